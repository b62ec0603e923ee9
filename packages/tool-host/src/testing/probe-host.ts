import { createInProcessHost } from "../in-process-host.ts";
import { probeTools } from "./probe-tools.ts";

/**
 * A process with one host, for crash tests: `node probe-host.ts <directory> <action id>=<script>...` executes the actions one after
 * the other, prints each id once its outcome is available, and then waits to be killed.
 */
const [directory = "", ...actions] = process.argv.slice(2);
const host = createInProcessHost({ tools: probeTools, environment: {} });
const session = await host.openSession({
  sessionId: "session",
  workspaceDir: `${directory}/workspace`,
  stateDir: `${directory}/state`,
  tools: [{ name: "probe" }],
});
setInterval(() => {}, 60_000);
for (const entry of actions) {
  const [actionId = "", thought = ""] = entry.split("=");
  await session.execute({ actionId, tool: "probe", action: { kind: "ThinkAction", thought }, secrets: [] });
  process.stdout.write(`${actionId}\n`);
}
