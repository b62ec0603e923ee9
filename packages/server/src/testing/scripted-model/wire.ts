import type { Played, RequestFacts } from "./script-player.ts";
import type { ScriptError } from "./script.ts";

export type WireName = "openai-chat" | "openai-responses" | "anthropic" | "google" | "bedrock";

/** How the scripted model implements one provider's protocol. */
export type Wire = {
  readonly name: WireName;
  /** Reads the facts for the script from a parsed request body. */
  readFacts(body: Readonly<Record<string, unknown>>): RequestFacts;
  /** The answer as server-sent events, one string each, without the blank line at the end. */
  toEvents(played: Played, model: string): readonly string[];
  /** Bytes of one event; server-sent events unless given. */
  toFrame?(event: string): Uint8Array;
  /** Content type of a stream; that of server-sent events unless given. */
  readonly eventType?: string;
  headers?(played: Played): Readonly<Record<string, string>>;
  toJson(played: Played, model: string): unknown;
  toError(error: ScriptError): unknown;
  readonly overflow: ScriptError;
};

type Message = { readonly role?: unknown; readonly content?: unknown; readonly tool_calls?: unknown };

export function messagesOf(body: Readonly<Record<string, unknown>>): readonly Message[] {
  return Array.isArray(body["messages"]) ? (body["messages"] as Message[]) : [];
}

/** The text of a content value: a string, or the text parts of a list. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as { type?: string; text?: unknown }[])
    .flatMap((part) => (isText(part.type) && typeof part.text === "string" ? [part.text] : []))
    .join("\n");
}

function isText(type: string | undefined): boolean {
  return type === "text" || type === "input_text" || type === "output_text";
}

/** Arguments for wires that carry objects; broken text cannot be represented there and becomes an empty object. */
export function toObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A script may have broken arguments on purpose: they are only possible where arguments are text.
    return {};
  }
}

/** Splits a text into chunks of `size` characters; by default into at most about 64 chunks. */
export function splitText(text: string, size: number | undefined): string[] {
  const length = size ?? Math.max(16, Math.ceil(text.length / 64));
  const chunks: string[] = [];
  for (let at = 0; at < text.length; at += length) chunks.push(text.slice(at, at + length));
  return chunks;
}

export function defaultErrorMessage(error: ScriptError): string {
  return error.message ?? `The script answers with status ${error.status}.`;
}
