export { openGitHost, type GitHost, type Tree } from "../extensions/sources/testing/git-host.ts";
export { createQuickTools, type QuickTools } from "./quick-tools.ts";
export { createRandom } from "./random.ts";
export {
  createScriptedModel,
  parseScript,
  startScriptedModel,
  type Script,
  type ScriptedModelServer,
} from "./scripted-model/scripted-model.ts";
export {
  startTestServer,
  type LogLine,
  type Reply,
  type TestServer,
  type TestServerOptions,
} from "./start-server.ts";
export { probePostgres, startPostgres, type TestPostgres } from "./start-postgres.ts";
export { TestSocket } from "./test-socket.ts";
export { ConvokeProcess } from "./convoke-process.ts";
export { runConvoke, type CommandOutcome } from "./run-convoke.ts";
export { ServerAtWork } from "./server-at-work.ts";
export { findSteadyPort } from "./steady-port.ts";
export { testedPrograms } from "./tested-programs.ts";
export { TestPushService } from "./test-push-service.ts";
