import {
  asRecord,
  listAt,
  recordAt,
  numberAt,
  textAt,
  textsAt,
  type UnknownRecord,
} from "./unknown-record.ts";
import type { HookRow, Row } from "./row.ts";

/** State updates that have a row. */
const settingKeys = new Set([
  "agent",
  "allow_rules",
  "approval_policy",
  "confirmation_policy",
  "max_budget_per_task",
  "max_iterations",
  "security_analyzer",
]);

/** Kinds without a row: they answer an action, are one row with others, or repeat what the row of a condensation shows. */
const rowlessKinds = new Set([
  "ACPToolCallEvent",
  "ObservationEvent",
  "AgentErrorEvent",
  "UserRejectObservation",
  "CondensationSummaryEvent",
]);

/** The row of one event; null for events that are shown in other rows or not at all. */
export function rowOfEvent(event: UnknownRecord): Row | null {
  const kind = textAt(event, "kind");
  if (rowlessKinds.has(kind)) return null;
  const place = { id: textAt(event, "id"), at: textAt(event, "timestamp") };
  switch (kind) {
    case "MessageEvent":
      return messageRow(event, place);
    case "ActionEvent":
      return {
        type: "action",
        ...place,
        tool: textAt(event, "tool_name"),
        toolCallId: textAt(event, "tool_call_id"),
        action: recordAt(event, "action"),
        callText: textAt(recordAt(event, "tool_call"), "arguments"),
        summary: summaryOf(textAt(event, "summary"), textAt(event, "tool_name")),
        thought: partsText(listAt(event, "thought")),
        reasoning: reasoningOf(event),
        risk: textAt(event, "security_risk") || "UNKNOWN",
        responseId: textAt(event, "llm_response_id") || null,
        outcome: null,
        task: null,
      };
    case "SystemPromptEvent":
      return {
        type: "prompt",
        ...place,
        text: [
          textAt(recordAt(event, "system_prompt"), "text"),
          textAt(recordAt(event, "dynamic_context"), "text"),
        ]
          .filter((text) => text !== "")
          .join("\n\n"),
        tools: listAt(event, "tools").map(toolName),
      };
    case "ConversationErrorEvent":
      return { type: "error", ...place, code: textAt(event, "code"), detail: textAt(event, "detail") };
    case "Condensation":
      return isTakingBack(event)
        ? null
        : {
            type: "condensation",
            ...place,
            summary: textAt(event, "summary"),
            forgotten: numberAt(event, "forgotten_event_ids") ?? listAt(event, "forgotten_event_ids").length,
          };
    case "CondensationRequest":
      return { type: "condensation-asked", ...place };
    case "PauseEvent":
      return { type: "halt", ...place, how: "pause" };
    case "InterruptEvent":
      return { type: "halt", ...place, how: "interrupt" };
    case "HookExecutionEvent":
      return hookRow(event, place);
    case "ConversationStateUpdateEvent":
      return stateRow(event, place);
    default:
      return { type: "unknown", ...place, kind: kind === "" ? "?" : kind, event };
  }
}

/**
 * The model's summary of the call; empty if it gave none and the field repeats the arguments, which every card shows
 * better.
 */
export function summaryOf(summary: string, tool: string): string {
  return summary.startsWith(`${tool}: {`) ? "" : summary;
}

/**
 * A message that was withdrawn before the agent read it is stored as a condensation that forgets only it, without a
 * summary.
 */
export function isTakingBack(event: UnknownRecord): boolean {
  return (
    textAt(event, "kind") === "Condensation" &&
    textAt(event, "summary") === "" &&
    textsAt(event, "forgotten_event_ids").length === 1
  );
}

type Place = { readonly id: string; readonly at: string };

function messageRow(event: UnknownRecord, place: Place): Row {
  const message = recordAt(event, "llm_message");
  const parts = listAt(message, "content");
  const text = partsText(parts);
  if (event["source"] === "environment") return { type: "hint", ...place, text };
  const images = parts.flatMap((part) => textsAt(asRecord(part), "image_urls"));
  if (event["source"] === "user") {
    const skills = textsAt(event, "activated_skills");
    return { type: "message", ...place, text, images, skills, isTakenBack: false };
  }
  const responseId = textAt(event, "llm_response_id") || null;
  return { type: "answer", ...place, text, images, reasoning: reasoningOf(message), responseId };
}

function stateRow(event: UnknownRecord, place: Place): Row | null {
  const key = textAt(event, "key");
  const value = event["value"];
  const fields = asRecord(value);
  if (settingKeys.has(key)) return { type: "setting", ...place, key, value };
  switch (key) {
    case "execution_status":
      return value === "stuck" ? { type: "error", ...place, code: "stuck", detail: "" } : null;
    case "leaf_event_id":
      return { type: "branch", ...place, target: typeof value === "string" ? value : null };
    case "warning":
      return { type: "warning", ...place, code: textAt(fields, "code"), detail: textAt(fields, "detail") };
    case "hook_execution":
      return fields === null ? null : hookRow(fields, place);
    case "goal":
      return fields === null
        ? null
        : {
            type: "goal",
            ...place,
            objective: textAt(fields, "objective"),
            status: textAt(fields, "status"),
            verdict: textAt(recordAt(fields, "verdict"), "missing"),
          };
    default:
      return null;
  }
}

function hookRow(fields: UnknownRecord, place: Place): HookRow {
  const texts = [textAt(fields, "stdout"), textAt(fields, "stderr"), textAt(fields, "error")];
  return {
    type: "hook",
    ...place,
    hookType: textAt(fields, "hook_event_type"),
    command: textAt(fields, "hook_command"),
    isBlocked: fields["blocked"] === true,
    isOk: fields["success"] !== false,
    exitCode: numberAt(fields, "exit_code"),
    reason: textAt(fields, "reason"),
    output: texts.filter((text) => text !== "").join("\n"),
  };
}

/** The texts of content parts, one per line. */
export function partsText(parts: readonly unknown[]): string {
  return parts
    .map((part) => textAt(asRecord(part), "text"))
    .filter((text) => text !== "")
    .join("\n");
}

/** The model's reasoning; providers return it in one of three fields. */
function reasoningOf(holder: UnknownRecord | null): string {
  const plain = textAt(holder, "reasoning_content");
  if (plain !== "") return plain;
  const blocks = listAt(holder, "thinking_blocks").map((block) => textAt(asRecord(block), "thinking"));
  const item = recordAt(holder, "responses_reasoning_item");
  return [...blocks, ...textsAt(item, "summary")].filter((text) => text !== "").join("\n\n");
}

function toolName(tool: unknown): string {
  const fields = asRecord(tool);
  return textAt(fields, "name") || textAt(fields, "title") || textAt(fields, "kind");
}
