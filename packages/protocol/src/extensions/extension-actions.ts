import { Type, type Static, type TSchema } from "typebox";
import { action } from "../actions/action-fields.ts";
import { choice, mapOf, orNull } from "../schema.ts";

/** Load a skill by name. */
export const InvokeSkillAction = action("InvokeSkillAction", {
  name: Type.String({ description: "Name of the skill, as the list of available skills gives it." }),
});
export type InvokeSkillAction = Static<typeof InvokeSkillAction>;

/** Switch to another model from the next request on. */
export const SwitchLLMAction = action("SwitchLLMAction", {
  profile_name: Type.String({ description: "The model profile to use from the next step on." }),
  reason: Type.String({ description: "Why this model suits the next steps better." }),
});
export type SwitchLLMAction = Static<typeof SwitchLLMAction>;

/** Ask a model with vision about an image of the conversation. */
export const VisionInspectAction = action("VisionInspectAction", {
  image_index: Type.Integer({
    minimum: 0,
    description: "Position of the image in the conversation, from 0.",
  }),
  question: Type.String({ minLength: 1, description: "What to find out about the image." }),
  profile_name: orNull(Type.String(), {
    description: "The vision profile to ask; the first one when left out.",
  }),
});
export type VisionInspectAction = Static<typeof VisionInspectAction>;

/** Ask a stronger model for advice. */
export const AskOracleAction = action("AskOracleAction", {
  question: Type.String({ description: "The question, complete in itself." }),
  context: orNull(Type.String(), { description: "What must be known to answer it." }),
});
export type AskOracleAction = Static<typeof AskOracleAction>;

/** Give a task to a sub-agent. */
export const TaskAction = action("TaskAction", {
  description: orNull(Type.String(), { description: "The task in a few words." }),
  prompt: Type.String({
    description: "The whole task; the sub-agent sees nothing else of this conversation.",
  }),
  subagent_type: Type.Optional(
    Type.String({ default: "general-purpose", description: "Which kind of sub-agent does it." }),
  ),
  resume: orNull(Type.String(), { description: "Id of an earlier task to go on with." }),
});
export type TaskAction = Static<typeof TaskAction>;

/** Start sub-agents and give them tasks. */
export const DelegateAction = action("DelegateAction", {
  command: choice(["spawn", "delegate"], {
    description: "spawn starts sub-agents; delegate hands out tasks to them.",
  }),
  ids: orNull(Type.Array(Type.String()), { description: "For spawn: names for the sub-agents." }),
  agent_types: orNull(Type.Array(Type.String()), { description: "For spawn: the kind of each sub-agent." }),
  tasks: orNull(mapOf(Type.String()), { description: "For delegate: the task of each sub-agent by name." }),
});
export type DelegateAction = Static<typeof DelegateAction>;

/** Run a script that directs several sub-agents. */
export const WorkflowAction = action("WorkflowAction", {
  name: Type.String({ description: "Short name of the workflow." }),
  script: Type.String({ description: "The script to run." }),
  max_concurrency: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 64,
      default: 8,
      description: "How many sub-agents may work at once.",
    }),
  ),
});
export type WorkflowAction = Static<typeof WorkflowAction>;

/** Change several files with one patch. */
export const ApplyPatchAction = action("ApplyPatchAction", {
  patch: Type.String({ description: "The patch text with its begin and end lines." }),
});
export type ApplyPatchAction = Static<typeof ApplyPatchAction>;

export type ExtensionAction =
  | InvokeSkillAction
  | SwitchLLMAction
  | VisionInspectAction
  | AskOracleAction
  | TaskAction
  | DelegateAction
  | WorkflowAction
  | ApplyPatchAction;

/** Action kinds beyond the contract, by kind; only used when their tool was requested. */
export const extensionActionSchemaByKind: Readonly<
  Record<ExtensionAction["kind"], TSchema> & Record<string, TSchema | undefined>
> = {
  InvokeSkillAction,
  SwitchLLMAction,
  VisionInspectAction,
  AskOracleAction,
  TaskAction,
  DelegateAction,
  WorkflowAction,
  ApplyPatchAction,
};
