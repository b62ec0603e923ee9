import { Type, type Static, type TSchema } from "typebox";
import { observation } from "../observations/observation-fields.ts";
import { choice, mapOf, object, orNull, ref } from "../schema.ts";

export const InvokeSkillObservation = observation("InvokeSkillObservation", { skill_name: Type.String() });
export type InvokeSkillObservation = Static<typeof InvokeSkillObservation>;

export const SwitchLLMObservation = observation("SwitchLLMObservation", {
  profile_name: Type.String(),
  reason: orNull(Type.String()),
  active_model: orNull(Type.String()),
});
export type SwitchLLMObservation = Static<typeof SwitchLLMObservation>;

export const VisionInspectObservation = observation("VisionInspectObservation", {
  image_index: Type.Integer(),
  question: Type.String(),
  profile_name: orNull(Type.String()),
  model: orNull(Type.String()),
  base_url: orNull(Type.String()),
  answer: orNull(Type.String()),
});
export type VisionInspectObservation = Static<typeof VisionInspectObservation>;

export const AskOracleObservation = observation("AskOracleObservation", {});
export type AskOracleObservation = Static<typeof AskOracleObservation>;

/** The answer of a client tool. */
export const ClientToolObservation = observation("ClientToolObservation", {});
export type ClientToolObservation = Static<typeof ClientToolObservation>;

export const TaskObservation = observation("TaskObservation", {
  task_id: Type.String(),
  subagent: Type.String(),
  status: Type.String(),
});
export type TaskObservation = Static<typeof TaskObservation>;

export const DelegateObservation = observation("DelegateObservation", {
  command: choice(["spawn", "delegate"]),
});
export type DelegateObservation = Static<typeof DelegateObservation>;

export const WorkflowObservation = observation("WorkflowObservation", {
  name: Type.String(),
  status: choice(["completed", "error"]),
});
export type WorkflowObservation = Static<typeof WorkflowObservation>;

/** The effect of a patch on one file. */
export const FileChange = object("FileChange", {
  type: choice(["add", "delete", "update"]),
  old_content: orNull(Type.String()),
  new_content: orNull(Type.String()),
  move_path: orNull(Type.String()),
});
export type FileChange = Static<typeof FileChange>;

/** The effects of a patch, by path. */
export const Commit = object("Commit", { changes: mapOf(ref(FileChange)) });
export type Commit = Static<typeof Commit>;

/** `fuzz` counts deviations between the patch's context lines and the file. */
export const ApplyPatchObservation = observation("ApplyPatchObservation", {
  message: Type.Optional(Type.String({ default: "" })),
  fuzz: Type.Optional(Type.Integer({ default: 0 })),
  commit: orNull(ref(Commit)),
});
export type ApplyPatchObservation = Static<typeof ApplyPatchObservation>;

export type ExtensionObservation =
  | InvokeSkillObservation
  | SwitchLLMObservation
  | VisionInspectObservation
  | AskOracleObservation
  | ClientToolObservation
  | TaskObservation
  | DelegateObservation
  | WorkflowObservation
  | ApplyPatchObservation;

/** Observation kinds beyond the contract, by kind. */
export const extensionObservationSchemaByKind: Readonly<
  Record<ExtensionObservation["kind"], TSchema> & Record<string, TSchema | undefined>
> = {
  InvokeSkillObservation,
  SwitchLLMObservation,
  VisionInspectObservation,
  AskOracleObservation,
  ClientToolObservation,
  TaskObservation,
  DelegateObservation,
  WorkflowObservation,
  ApplyPatchObservation,
};
