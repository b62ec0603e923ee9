import { isObject, listOf, objectOr, type JsonObject } from "../lib/json-object.ts";

/** A tool call of another agent that has ended, for a reader. */
export type EndedAcpCall = {
  readonly title: string;
  /** What it was given; empty where that is not known. */
  readonly input: JsonObject;
  /** What came of it; empty where the agent said nothing. */
  readonly output: string;
  readonly isFailed: boolean;
};

/** Null for a call that has not ended: its end is an event of its own. */
export function endedAcpCall(event: Readonly<Record<string, unknown>>): EndedAcpCall | null {
  const { title, status, raw_input: input, raw_output: raw } = event;
  if (status !== "completed" && status !== "failed") return null;
  const shown = listOf(event["content"])
    .map(textOf)
    .filter((text) => text !== "");
  return {
    title: typeof title === "string" ? title : "tool",
    input: isObject(input) ? input : {},
    output: shown.length > 0 ? shown.join("\n\n") : rawText(raw),
    isFailed: status === "failed",
  };
}

/** A part of a call's content by the Agent Client Protocol: a block of a message, or a changed file. */
function textOf(part: unknown): string {
  const { type, content, path } = objectOr(part);
  if (type === "diff") return typeof path === "string" ? path : "";
  const { text } = objectOr(content);
  return typeof text === "string" ? text : "";
}

function rawText(raw: unknown): string {
  if (raw === undefined || raw === null) return "";
  return typeof raw === "string" ? raw : JSON.stringify(raw, null, 2);
}
