import type { ActionRow, Outcome } from "./row.ts";
import { asRecord, listAt, numberAt, textAt, type UnknownRecord } from "./unknown-record.ts";

/** `action.kind` of a call that another agent made of one of its own tools. */
export const acpCallKind = "ACPToolCall";

/** Whether an event says that a call of another agent has ended. */
export function hasEnded(event: UnknownRecord): boolean {
  return event["status"] === "completed" || event["status"] === "failed";
}

/** The row of one call of another agent, from its events in log order: a later event replaces what an earlier one said. */
export function rowOfAcpCall(events: readonly UnknownRecord[]): ActionRow {
  const known: Record<string, unknown> = {};
  for (const event of events)
    for (const [name, value] of Object.entries(event)) if (value !== null) known[name] = value;
  const [first] = events;
  const input = known["raw_input"];
  const kind = textAt(known, "tool_kind");
  const data = asRecord(input) ?? (input === undefined ? {} : { input });
  return {
    type: "action",
    id: textAt(first, "id"),
    at: textAt(first, "timestamp"),
    tool: kind === "" || kind === "other" ? "tool" : kind,
    toolCallId: textAt(known, "tool_call_id"),
    action: { kind: acpCallKind, tool_kind: kind, content: listAt(known, "content"), data },
    callText: input === undefined ? "" : JSON.stringify(data),
    summary: textAt(known, "title"),
    thought: "",
    reasoning: "",
    risk: "UNKNOWN",
    responseId: null,
    outcome: hasEnded(known) ? outcomeOf(known) : null,
    task: null,
  };
}

function outcomeOf(event: UnknownRecord): Outcome {
  return {
    type: "result",
    id: textAt(event, "id"),
    at: textAt(event, "timestamp"),
    observation: observationOfAcpCall(event),
    isError: event["status"] === "failed",
    isCut: event["is_cut"] === true,
  };
}

/** What came of a call, in the form of our own observations. Changed files are not in it. */
export function observationOfAcpCall(event: UnknownRecord): UnknownRecord {
  const shown = listAt(event, "content").flatMap(partOf);
  const raw = event["raw_output"];
  const fields = asRecord(raw);
  const exitCode = numberAt(fields, "exit_code");
  const isShown =
    shown.length > 0 || listAt(event, "content").some((part) => asRecord(part)?.["type"] === "diff");
  const output = fields?.["output"];
  const text =
    typeof raw === "string" ? raw : typeof output === "string" ? output : JSON.stringify(raw, null, 2);
  const content = isShown || raw === undefined || raw === null ? shown : [{ type: "text", text }];
  return {
    kind: acpCallKind,
    is_error: event["status"] === "failed",
    ...(exitCode === null ? {} : { exit_code: exitCode }),
    content,
  };
}

/** A part of a call's content by the Agent Client Protocol. The server cuts long ones to their beginning. */
function partOf(part: unknown): readonly UnknownRecord[] {
  const fields = asRecord(part);
  if (fields?.["truncated"] === true) return [{ type: "text", text: textAt(fields, "beginning") }];
  if (fields?.["type"] !== "content") return [];
  const block = asRecord(fields["content"]);
  if (block?.["type"] === "text") return [{ type: "text", text: textAt(block, "text") }];
  if (block?.["type"] !== "image") return [];
  return [
    { type: "image", image_urls: [`data:${textAt(block, "mimeType")};base64,${textAt(block, "data")}`] },
  ];
}
