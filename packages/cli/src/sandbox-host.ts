import { parseArgs } from "node:util";
import { runToolHost } from "./run-tool-host.ts";

/**
 * `convoke tool-host` without the rest of the command, for the server's own use: sandboxes start with it, where every
 * millisecond is waited for. Takes those of the command's arguments that the server gives.
 */
const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    socket: { type: "string" },
    "key-file": { type: "string" },
    "state-dir": { type: "string" },
    json: { type: "boolean" },
    egress: { type: "string" },
    "exit-with-parent": { type: "boolean" },
  },
});
const { socket, "key-file": keyFile, "state-dir": stateDir, json, egress } = values;
if (socket === undefined || keyFile === undefined || stateDir === undefined) {
  throw new Error("This is started by the server. To start a tool host yourself, use convoke tool-host.");
}
await runToolHost({
  socket,
  keyFile,
  stateDir,
  address: "",
  json: json === true,
  egress,
  exitWithParent: values["exit-with-parent"] === true,
});
