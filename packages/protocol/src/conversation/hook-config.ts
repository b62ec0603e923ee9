import { Type, type Static } from "typebox";
import { choice, closedObject, list, object, ref } from "../schema.ts";

/** How a hook is carried out. */
export const HookType = choice(["command", "prompt", "agent"], { $id: "HookType" });
export type HookType = Static<typeof HookType>;

/** One hook; `timeout` is in seconds. */
export const HookDefinition = object("HookDefinition", {
  type: Type.Optional(ref(HookType, { default: "command" })),
  command: Type.String(),
  timeout: Type.Optional(Type.Integer({ default: 60 })),
});
export type HookDefinition = Static<typeof HookDefinition>;

const matcherFields = {
  matcher: Type.Optional(Type.String({ default: "*", description: "Tool names it applies to." })),
  hooks: list(ref(HookDefinition)),
};

/** Hooks for some tools. */
export const HookMatcher = object("HookMatcher-Output", matcherFields);
export type HookMatcher = Static<typeof HookMatcher>;
export const HookMatcherInput = object("HookMatcher-Input", matcherFields);
export type HookMatcherInput = Static<typeof HookMatcherInput>;

const matchers = list(ref(HookMatcher));
const matchersInput = list(ref(HookMatcherInput));

/** Hooks by the moment at which they run. */
export const HookConfig = closedObject("HookConfig-Output", {
  pre_tool_use: matchers,
  post_tool_use: matchers,
  user_prompt_submit: matchers,
  session_start: matchers,
  session_end: matchers,
  stop: matchers,
});
export type HookConfig = Static<typeof HookConfig>;
export const HookConfigInput = closedObject("HookConfig-Input", {
  pre_tool_use: matchersInput,
  post_tool_use: matchersInput,
  user_prompt_submit: matchersInput,
  session_start: matchersInput,
  session_end: matchersInput,
  stop: matchersInput,
});
export type HookConfigInput = Static<typeof HookConfigInput>;
