import { Type, type Static, type TSchema } from "typebox";
import { anyObject } from "../schema.ts";
import { toolDefinition, toolDefinitionWith } from "../tools/tool-fields.ts";

export const InvokeSkillTool = toolDefinition("InvokeSkillTool");
export type InvokeSkillTool = Static<typeof InvokeSkillTool>;

export const SwitchLLMTool = toolDefinition("SwitchLLMTool");
export type SwitchLLMTool = Static<typeof SwitchLLMTool>;

export const VisionInspectTool = toolDefinition("VisionInspectTool");
export type VisionInspectTool = Static<typeof VisionInspectTool>;

export const AskOracleTool = toolDefinition("AskOracleTool");
export type AskOracleTool = Static<typeof AskOracleTool>;

/** A tool that the client executes; its arguments follow the client's own JSON Schema. */
export const ClientTool = toolDefinitionWith("ClientTool", {
  client_tool_name: Type.String(),
  input_schema: anyObject(),
});
export type ClientTool = Static<typeof ClientTool>;

export const TaskTool = toolDefinition("TaskTool");
export type TaskTool = Static<typeof TaskTool>;

export const TaskToolSet = toolDefinition("TaskToolSet");
export type TaskToolSet = Static<typeof TaskToolSet>;

export const WorkflowTool = toolDefinition("WorkflowTool");
export type WorkflowTool = Static<typeof WorkflowTool>;

export const WorkflowToolSet = toolDefinition("WorkflowToolSet");
export type WorkflowToolSet = Static<typeof WorkflowToolSet>;

export const ApplyPatchTool = toolDefinition("ApplyPatchTool");
export type ApplyPatchTool = Static<typeof ApplyPatchTool>;

export type ExtensionToolDefinition =
  | InvokeSkillTool
  | SwitchLLMTool
  | VisionInspectTool
  | AskOracleTool
  | ClientTool
  | TaskTool
  | TaskToolSet
  | WorkflowTool
  | WorkflowToolSet
  | ApplyPatchTool;

/** Tool definition kinds beyond the contract, by kind. */
export const extensionToolSchemaByKind: Readonly<Record<ExtensionToolDefinition["kind"], TSchema>> = {
  InvokeSkillTool,
  SwitchLLMTool,
  VisionInspectTool,
  AskOracleTool,
  ClientTool,
  TaskTool,
  TaskToolSet,
  WorkflowTool,
  WorkflowToolSet,
  ApplyPatchTool,
};
