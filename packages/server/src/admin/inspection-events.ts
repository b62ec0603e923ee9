import { beginningOf } from "../engine/state/shown-facts.ts";
import type { EventWithMeta } from "../journal/journal.ts";
import { searchTextOf } from "../journal/search-text.ts";

const summaryCharacters = 160;

/** Describes an event in one line. Tolerates damaged events and those of newer releases. */
export function lineOfEvent({ seq, id, json, meta }: EventWithMeta) {
  const event = readObject(json);
  const beside = Object.keys(readObject(meta ?? "{}") ?? { damaged: true });
  if (event === null)
    return { seq, id, timestamp: null, kind: "damaged", source: "", summary: "It cannot be read.", beside };
  const text = (name: string): string => (typeof event[name] === "string" ? event[name] : "");
  return {
    seq,
    id,
    /** Null for a damaged one. */
    timestamp: text("timestamp") || null,
    kind: text("kind"),
    source: text("source"),
    /** Its beginning on one line, as clients may read it. */
    summary: onOneLine(`${text("tool_name")} ${summaryOf(event, json)}`),
    /** Names of the private facts beside the event. */
    beside,
  };
}

function summaryOf(event: Fields, json: string): string {
  switch (event["kind"]) {
    case "MessageEvent":
      return beginningOf(event["llm_message"] as Parameters<typeof beginningOf>[0]);
    case "ActionEvent":
      return withoutKind(event["action"]);
    case "ObservationEvent":
      return beginningOf(event["observation"] as Parameters<typeof beginningOf>[0]);
    case "ConversationStateUpdateEvent":
      return `${String(event["key"])} ${withoutKind(event["value"])}`;
    default:
      return searchTextOf(json)?.texts.join(": ") ?? "";
  }
}

/** Arguments as JSON, or the value itself. */
function withoutKind(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  const { kind: _, ...rest } = value as Fields;
  return JSON.stringify(rest);
}

function onOneLine(text: string): string {
  const line = text
    .slice(0, 10 * summaryCharacters)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > summaryCharacters ? `${line.slice(0, summaryCharacters - 1)}…` : line;
}

type Fields = Readonly<Record<string, unknown>>;

function readObject(json: string): Fields | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? (value as Fields) : null;
  } catch {
    // A damaged event.
    return null;
  }
}
