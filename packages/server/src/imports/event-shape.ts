import { isObject, type JsonObject } from "../lib/json-object.ts";

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isList: Check = (value) => Array.isArray(value) && value.every(isObject);
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const isAny: Check = () => true;
const orAbsent =
  (check: Check): Check =>
  (value) =>
    value === undefined || value === null || check(value);

/** The fields of each kind that this server and its clients read; others are kept as they are. */
const shapes: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  SystemPromptEvent: {
    system_prompt: (value) => isObject(value) && isText(value["text"]),
    tools: orAbsent(isList),
    dynamic_context: orAbsent((value) => isObject(value) && isText(value["text"])),
  },
  MessageEvent: {
    llm_message: (value) => isObject(value) && isText(value["role"]) && orAbsent(isList)(value["content"]),
    extended_content: orAbsent(isList),
  },
  ActionEvent: {
    thought: isList,
    tool_name: isText,
    tool_call_id: isText,
    llm_response_id: isText,
    tool_call: (value) =>
      isObject(value) && ["id", "name", "arguments"].every((field) => isText(value[field])),
    action: orAbsent((value) => isObject(value) && isText(value["kind"])),
    thinking_blocks: orAbsent(isList),
  },
  ObservationEvent: {
    tool_name: isText,
    tool_call_id: isText,
    action_id: isText,
    observation: (value) => isObject(value) && isText(value["kind"]) && orAbsent(isList)(value["content"]),
  },
  UserRejectObservation: { tool_name: isText, tool_call_id: isText, action_id: isText },
  AgentErrorEvent: { tool_name: isText, tool_call_id: isText, error: isText },
  ConversationErrorEvent: { code: isText, detail: isText },
  Condensation: { forgotten_event_ids: orAbsent(isTexts), summary: orAbsent(isText) },
  CondensationSummaryEvent: { summary: isText },
  ConversationStateUpdateEvent: { key: orAbsent(isText), value: isAny },
};

const statuses = new Set([
  "idle",
  "running",
  "paused",
  "waiting_for_confirmation",
  "finished",
  "error",
  "stuck",
  "deleting",
]);

/** The field of an event that is not what its kind needs; null when all are. Unknown kinds need nothing. */
export function wrongField(event: JsonObject): string | null {
  const { kind, key, value } = event;
  const shape = shapes[String(kind)] ?? {};
  const wrong = Object.entries(shape).find(([field, check]) => !check(event[field]));
  if (wrong !== undefined) return wrong[0];
  if (kind !== "ConversationStateUpdateEvent") return null;
  if (key === "execution_status" && !statuses.has(String(value))) return "value";
  const isStats = isObject(value) && isObject(value["usage_to_metrics"]);
  return key === "stats" && !isStats ? "value" : null;
}
