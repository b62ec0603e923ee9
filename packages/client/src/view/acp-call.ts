import type { ActionRow, Outcome } from "./row.ts";
import { asRecord, listAt, recordAt, textAt, type UnknownRecord } from "./unknown-record.ts";

const endStatuses = new Set(["completed", "failed"]);

/** Whether an ACPToolCallEvent ends a call that an earlier one began. */
export function isAcpEnd(event: UnknownRecord): boolean {
  return endStatuses.has(textAt(event, "status"));
}

/** Calls of another agent have ids of their own, which calls that it asks permission for repeat. */
export function acpCallId(event: UnknownRecord): string {
  return `acp ${textAt(event, "tool_call_id")}`;
}

/** The row of a call of another agent: a command as those of our terminal, anything else by its title. */
export function acpCallRow(event: UnknownRecord, place: Pick<ActionRow, "id" | "at">): ActionRow {
  const input = recordAt(event, "raw_input");
  const command = textAt(event, "tool_kind") === "execute" ? textAt(input, "command") : "";
  return {
    type: "action",
    ...place,
    tool: textAt(event, "tool_kind") || "tool",
    toolCallId: acpCallId(event),
    action: command === "" ? { kind: "ACPToolCall", ...input } : { kind: "TerminalAction", command },
    callText: JSON.stringify(input ?? {}),
    summary: textAt(event, "title"),
    thought: "",
    reasoning: "",
    risk: "UNKNOWN",
    responseId: null,
    outcome: null,
    task: null,
  };
}

/** How the call ended: the text that the agent shows of it, or its raw result. */
export function acpOutcome(event: UnknownRecord, place: Pick<ActionRow, "id" | "at">): Outcome {
  const shown = listAt(event, "content")
    .map((part) => textAt(recordAt(asRecord(part), "content"), "text"))
    .filter((text) => text !== "")
    .join("\n");
  const raw = event["raw_output"];
  const output = asRecord(raw)?.["output"] ?? raw ?? "";
  const text = shown || (typeof output === "string" ? output : JSON.stringify(output, null, 2));
  const content = [{ type: "text", text }];
  const observation = { kind: "ACPToolCall", content };
  return { ...place, type: "result", observation, isError: event["status"] === "failed", isCut: false };
}
