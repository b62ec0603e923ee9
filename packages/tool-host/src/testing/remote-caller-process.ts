import { parseArgs } from "node:util";
import { connectToolHost } from "../rpc/connect-host.ts";

/** A client in a separate process, for tests that kill it: runs one terminal command and prints its outcome. */
const { values } = parseArgs({
  options: {
    address: { type: "string" },
    key: { type: "string" },
    directory: { type: "string" },
    command: { type: "string" },
  },
});
const { address = "", key = "", directory = "", command = "" } = values;
const remote = await connectToolHost({ address, key });
const session = await remote.openSession({
  sessionId: "session",
  workspaceDir: `${directory}/workspace`,
  stateDir: `${directory}/state`,
  tools: [{ name: "terminal" }],
});
const outcome = await session.execute({
  actionId: "build",
  tool: "terminal",
  action: { kind: "TerminalAction", command },
  secrets: [],
});
console.log(JSON.stringify(outcome));
await remote[Symbol.asyncDispose]();
