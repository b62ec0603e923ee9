import { Type, type Static, type TProperties, type TSchema } from "typebox";
import { sources } from "../events/sources.ts";
import { anyObject, choice, closedObject, flag, orAbsent } from "../schema.ts";

const extendedSources = [...sources, "hook"] as const;

function extensionEvent<K extends string, P extends TProperties>(
  kind: K,
  source: (typeof extendedSources)[number],
  properties: P,
) {
  return closedObject(kind, {
    id: Type.Optional(Type.String()),
    timestamp: Type.Optional(Type.String()),
    source: Type.Optional(choice(extendedSources, { default: source })),
    ...properties,
    kind: Type.Literal(kind),
  });
}

/** The user interrupted a model request or a tool. Appears only after a call of the interrupt route. */
export const InterruptEvent = extensionEvent("InterruptEvent", "user", {});
export type InterruptEvent = Static<typeof InterruptEvent>;

/** A hook ran. Appears only where hooks are configured. */
export const HookExecutionEvent = extensionEvent("HookExecutionEvent", "hook", {
  hook_event_type: choice([
    "PreToolUse",
    "PostToolUse",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "Stop",
  ]),
  hook_command: Type.String(),
  tool_name: orAbsent(Type.String()),
  success: Type.Boolean(),
  blocked: flag(false, { description: "Whether the hook turned the action or the message down." }),
  exit_code: Type.Integer(),
  stdout: Type.Optional(Type.String({ default: "" })),
  stderr: Type.Optional(Type.String({ default: "" })),
  reason: orAbsent(Type.String()),
  additional_context: orAbsent(Type.String()),
  error: orAbsent(Type.String()),
  action_id: orAbsent(Type.String()),
  message_id: orAbsent(Type.String()),
  hook_input: orAbsent(anyObject()),
});
export type HookExecutionEvent = Static<typeof HookExecutionEvent>;

/** A chunk of an answer in progress; a signal that is never stored. Only sent with `llm.stream`. */
export const StreamingDeltaEvent = extensionEvent("StreamingDeltaEvent", "agent", {
  content: orAbsent(Type.String()),
  reasoning_content: orAbsent(Type.String()),
});
export type StreamingDeltaEvent = Static<typeof StreamingDeltaEvent>;

/** A tool call of an agent behind the Agent Client Protocol. Appears only with such an agent. */
export const ACPToolCallEvent = extensionEvent("ACPToolCallEvent", "agent", {
  tool_call_id: Type.String(),
  title: Type.String(),
  status: orAbsent(Type.String()),
  tool_kind: orAbsent(Type.String()),
  raw_input: Type.Optional(Type.Unknown()),
  raw_output: Type.Optional(Type.Unknown()),
  content: orAbsent(Type.Array(Type.Unknown())),
  is_error: flag(false),
});
export type ACPToolCallEvent = Static<typeof ACPToolCallEvent>;

/** A message received on a socket was invalid; sent only to that socket and never stored. */
export const ServerErrorEvent = extensionEvent("ServerErrorEvent", "environment", {
  code: Type.String(),
  detail: Type.String(),
});
export type ServerErrorEvent = Static<typeof ServerErrorEvent>;

export type ExtensionEvent =
  | InterruptEvent
  | HookExecutionEvent
  | StreamingDeltaEvent
  | ACPToolCallEvent
  | ServerErrorEvent;

/** Event kinds beyond the contract, by kind. */
export const extensionEventSchemaByKind: Readonly<Record<ExtensionEvent["kind"], TSchema>> = {
  InterruptEvent,
  HookExecutionEvent,
  StreamingDeltaEvent,
  ACPToolCallEvent,
  ServerErrorEvent,
};
