import type { ServerSentEvent } from "./sse.ts";

/**
 * The value in an event of a stream. Throws what an event of the name `error` says, and what a bare text says that came in place of a
 * value, in the shape in which the SDKs throw errors with a status; and a SyntaxError for broken JSON.
 */
export function readEvent({ event, data }: ServerSentEvent): unknown {
  const value = parse(data);
  if (typeof value === "string") throw reported(value);
  if (event !== "error") return value;
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
  return Object.assign(new Error("The provider reported an error inside its answer."), { error });
}
