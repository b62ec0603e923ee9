export {
  createScriptedModel,
  parseScript,
  startScriptedModel,
  type Script,
  type ScriptedModelServer,
} from "./scripted-model/scripted-model.ts";
