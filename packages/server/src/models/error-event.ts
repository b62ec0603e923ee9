import type { ServerSentEvent } from "./sse.ts";

/**
 * The value in an event of a stream. Throws what an event of the name `error` says, and what a bare text says that came in place of a
 * value, in the shape in which the SDKs throw errors with a status; and a SyntaxError for broken JSON.
 */
export function readEvent({ event, data }: ServerSentEvent): unknown {
  const value = parse(data);
  if (typeof value === "string") throw reported(value);
  // Some gateways keep a connection open with values that say nothing.
  if (event !== "error") return typeof value === "object" && value !== null ? value : {};
  const { error } = (value ?? {}) as { error?: unknown };
  throw reported(error ?? value);
}

/** The last event of a stream of OpenAI's APIs, which holds no value. */
export function isEndMark({ data }: ServerSentEvent): boolean {
  return data.trim() === "[DONE]";
}

/** Some servers write what failed as an object, others as a text, with or without quotes. */
function parse(data: string): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch (error) {
    if (/^\s*[[{]/u.test(data)) throw error;
    // A bare text is what the server has to say.
    return data;
  }
}

/** An error inside a 200 answer gets the shape in which the SDKs throw those with a status. */
export function reported(error: unknown): Error {
  const isObject = typeof error === "object" && error !== null;
  const content = isObject || typeof error === "string" ? error : { message: JSON.stringify(error) };
  return Object.assign(new Error("The provider reported an error inside its answer."), { error: content });
}

/** True for an `error` field that says that something failed: some servers send `false` or an empty object with every answer. */
export function isError(error: unknown): boolean {
  return Boolean(error) && (typeof error !== "object" || Object.keys(error!).length > 0);
}

/** The failure that a whole value with status 200 is; null for what may be an answer. */
export function failureIn(value: unknown): Error | null {
  if (typeof value !== "object" || value === null || answerFields.some((field) => field in value))
    return null;
  const { error, detail, message } = value as Readonly<Record<string, unknown>>;
  if (isError(error)) return reported(error);
  return isError(detail) || typeof message === "string" ? reported(value) : null;
}

const answerFields = ["choices", "content", "output"];
