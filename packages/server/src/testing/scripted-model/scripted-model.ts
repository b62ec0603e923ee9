export { createScriptedModel } from "./in-process-model.ts";
export { parseScript, type Script, type ScriptTurn } from "./script.ts";
export {
  startScriptedModel,
  type RecordedRequest,
  type ScriptedProvider,
  type ScriptedModelServer,
} from "./scripted-model-server.ts";
