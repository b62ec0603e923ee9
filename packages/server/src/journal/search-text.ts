import { parseObject } from "../lib/json-object.ts";

/** The searchable texts of one event. */
export type SearchText = {
  readonly kind: string;
  readonly source: string;
  readonly toolName: string | null;
  /** What a person would read of it, each text shortened to its first and last characters; none for most state updates. */
  readonly texts: readonly string[];
};

/** Of a longer text, as many characters of its beginning and of its end are searched. */
export const searchedCharacters = 4096;

/** Null for what is no event, such as the stand-in of a damaged one. */
export function searchTextOf(json: string): SearchText | null {
  const event = parseObject(json);
  if (event === null || typeof event["kind"] !== "string") return null;
  const { kind, source, tool_name: toolName } = event;
  const collector = new Collector();
  for (const field of searchedFields[kind] ?? []) collector.add(event[field]);
  return {
    kind,
    source: typeof source === "string" ? source : "",
    toolName: typeof toolName === "string" ? toolName : null,
    texts: collector.texts,
  };
}

/** The fields of each kind that hold words for people: messages, thoughts, commands, paths, arguments, outputs, errors. */
const searchedFields: Readonly<Record<string, readonly string[]>> = {
  MessageEvent: ["llm_message"],
  ActionEvent: ["thought", "reasoning_content", "action", "summary"],
  ObservationEvent: ["observation"],
  ACPToolCallEvent: ["title", "raw_input", "raw_output", "content"],
  UserRejectObservation: ["rejection_reason"],
  AgentErrorEvent: ["error"],
  ConversationErrorEvent: ["code", "detail"],
  HookExecutionEvent: ["hook_command", "reason", "stdout", "stderr"],
  Condensation: ["summary"],
};

/** Fields that name a form, not a thing; pictures and signatures are no text. */
const skipped = new Set(["kind", "type", "role", "image_urls", "signature", "encrypted_content", "metadata"]);
const textLimit = 64;
const totalLimit = 32_768;
const depthLimit = 12;

class Collector {
  readonly texts: string[] = [];
  #left = totalLimit;

  add(value: unknown, depth = 0): void {
    if (this.#left <= 0 || this.texts.length >= textLimit || depth > depthLimit) return;
    if (typeof value === "string") {
      const text = shorten(value).slice(0, this.#left);
      if (text.trim() === "" || isData(text)) return;
      this.texts.push(text);
      this.#left -= text.length;
    } else if (Array.isArray(value)) {
      for (const item of value) this.add(item, depth + 1);
    } else if (typeof value === "object" && value !== null) {
      for (const [name, field] of Object.entries(value)) if (!skipped.has(name)) this.add(field, depth + 1);
    }
  }
}

function shorten(text: string): string {
  if (text.length <= 2 * searchedCharacters) return text;
  return `${text.slice(0, searchedCharacters)}\n…\n${text.slice(-searchedCharacters)}`;
}

/** A picture or another file as text. */
function isData(text: string): boolean {
  return /^data:[^,\s]{0,200};base64,/.test(text) || /^[\w+/=-]{1000}/.test(text);
}
