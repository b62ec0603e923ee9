import { parseArgs } from "node:util";
import { openLocalBash } from "../bash/local-bash.ts";
import { createInProcessHost } from "../in-process-host.ts";
import { openGuardian } from "../processes/guardian.ts";
import { serveToolHost } from "../rpc/serve-host.ts";
import { defaultTools } from "../catalogue.ts";
import { allowedEnvironment } from "../processes/allowed-environment.ts";
import { createLocalWorkspace } from "../workspace/local-workspace.ts";

/** A served host in a separate process, for tests that kill it: `--socket <path> --key <key> --marker <guardian's marker>`. */
const { values } = parseArgs({
  options: { socket: { type: "string" }, key: { type: "string" }, marker: { type: "string" } },
});
const guardian = await openGuardian({ marker: values.marker ?? "" });
const environment = { ...allowedEnvironment(process.env), ...guardian.environment };
await serveToolHost({
  host: createInProcessHost({ tools: defaultTools(), environment }),
  workspace: createLocalWorkspace({ environment }),
  bash: openLocalBash({ path: ":memory:", environment }),
  listen: { socket: values.socket ?? "" },
  key: values.key ?? "",
});
console.log("ready");
