import { Type, type Static } from "typebox";
import { anyObject, choice, flag, list, mapOf, object, orNull, ref } from "../schema.ts";

/** Activates a skill when a message contains one of the words. */
export const KeywordTrigger = object("KeywordTrigger", {
  type: Type.Optional(Type.Literal("keyword", { default: "keyword" })),
  keywords: Type.Array(Type.String()),
});
export type KeywordTrigger = Static<typeof KeywordTrigger>;

/** Activates a skill that asks for inputs first. */
export const TaskTrigger = object("TaskTrigger", {
  type: Type.Optional(Type.Literal("task", { default: "task" })),
  triggers: Type.Array(Type.String()),
});
export type TaskTrigger = Static<typeof TaskTrigger>;

/** One input of a skill. */
export const InputMetadata = object("InputMetadata", { name: Type.String(), description: Type.String() });
export type InputMetadata = Static<typeof InputMetadata>;

/** The files that come with a skill, relative to its root. */
export const SkillResources = object("SkillResources", {
  skill_root: Type.String(),
  scripts: list(Type.String()),
  references: list(Type.String()),
  assets: list(Type.String()),
});
export type SkillResources = Static<typeof SkillResources>;

const trigger = Type.Unsafe<KeywordTrigger | TaskTrigger>({
  oneOf: [ref(KeywordTrigger), ref(TaskTrigger)],
  discriminator: { propertyName: "type", mapping: { keyword: "KeywordTrigger", task: "TaskTrigger" } },
});

/** Knowledge or instructions that can be added to a conversation. Without a trigger it is always added. */
export const Skill = object("Skill", {
  name: Type.String(),
  content: Type.String(),
  trigger: orNull(trigger),
  source: orNull(Type.String()),
  mcp_tools: orNull(anyObject()),
  inputs: list(ref(InputMetadata)),
  is_agentskills_format: flag(false),
  description: orNull(Type.String()),
  license: orNull(Type.String()),
  compatibility: orNull(Type.String()),
  metadata: orNull(mapOf(Type.String())),
  allowed_tools: orNull(Type.Array(Type.String())),
  resources: orNull(ref(SkillResources)),
});
export type Skill = Static<typeof Skill>;

/** A skill as the catalogue lists it. */
export const SkillInfo = object("SkillInfo", {
  name: Type.String(),
  type: choice(["repo", "knowledge", "agentskills"]),
  content: Type.String(),
  triggers: list(Type.String()),
  source: orNull(Type.String()),
  description: orNull(Type.String()),
  is_agentskills_format: flag(false),
});
export type SkillInfo = Static<typeof SkillInfo>;
