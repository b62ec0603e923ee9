import { isDeepStrictEqual } from "node:util";
import type { MessageToolCall } from "@convoke/protocol";

/** The calls of an answer as they are stored: none without a name, none twice, and arguments that were encoded or sent twice once. */
export function receivedCalls(calls: readonly MessageToolCall[]): MessageToolCall[] {
  return calls.filter(({ name }) => name.trim() !== "").map(withPlainArguments);
}

/** Streamed arguments, exactly as received except for repetitions: some servers send the whole once more at the end. */
export class ArgumentChunks {
  readonly #chunks: string[] = [];
  #length = 0;

  get text(): string {
    return this.#chunks.join("");
  }

  /** Adds a chunk and returns what is new in it. */
  add(chunk: string): string {
    // What repeats the whole is hardly shorter, whatever its blanks; the whole is read only then.
    const mayRepeat = this.#length > 1 && chunk.length * 2 >= this.#length && /[{"]/u.test(chunk);
    if (mayRepeat && saysSame(chunk, this.text)) return "";
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    return chunk;
  }
}

/** True for arguments that are the same complete object: as it was, with other blanks, or encoded as a text of JSON. */
export function saysSame(text: string, whole: string): boolean {
  const complete = objectIn(whole);
  return complete !== null && isDeepStrictEqual(objectIn(text), complete);
}

function withPlainArguments(call: MessageToolCall): MessageToolCall {
  const half = call.arguments.slice(0, call.arguments.length / 2);
  if (half.length > 1 && call.arguments === half + half && objectIn(half) !== null)
    return { ...call, arguments: half };
  if (!call.arguments.trimStart().startsWith('"')) return call;
  const inner = parsed(call.arguments);
  return typeof inner === "string" && objectIn(inner) !== null ? { ...call, arguments: inner } : call;
}

/** The object that a text is, also where it is one of JSON inside a text of JSON; null for anything else. */
function objectIn(text: string): object | null {
  const value = parsed(text);
  const inner = typeof value === "string" ? parsed(value) : value;
  return typeof inner === "object" && inner !== null && !Array.isArray(inner) ? inner : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // A chunk, or invalid JSON of the model: no repetition, so it stays as it is.
    return null;
  }
}
