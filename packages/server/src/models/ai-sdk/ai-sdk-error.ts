import { cutAnswer, readingFailure } from "../failures.ts";
import { ModelFailure } from "../classify.ts";

type Thrown = {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly statusCode?: unknown;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: unknown;
  readonly data?: unknown;
  readonly type?: unknown;
  readonly cause?: unknown;
};

/** Brings what the AI SDK throws, or reports inside a stream, into the shape that the official SDKs throw. */
export function toProviderError(thrown: unknown): unknown {
  if (thrown instanceof ModelFailure || typeof thrown !== "object" || thrown === null) return thrown;
  const error = thrown as Thrown;
  const failure = causeOf(thrown);
  if (failure !== null) return failure;
  if (thrown instanceof RangeError) return readingFailure(thrown);
  const name = typeof error.name === "string" ? error.name : "";
  const message = typeof error.message === "string" ? error.message : "";
  if (/JSONParse|TypeValidation/u.test(name)) return new SyntaxError(message);
  // The answer began well and then could not be read.
  if (typeof error.statusCode === "number" && error.statusCode < 300) {
    return error.cause instanceof Error && "code" in error.cause ? error.cause : cutAnswer();
  }
  if (typeof error.statusCode === "number") {
    return Object.assign(new Error(message), {
      status: error.statusCode,
      headers: new Headers(error.responseHeaders),
      error: bodyOf(error.responseBody) ?? { message, type: textOf(error.type) },
      cause: error.cause,
    });
  }
  if (!(thrown instanceof Error))
    return Object.assign(new Error(message), { error: { message, type: textOf(error.type) } });
  return /event-stream|checksum|crc32|message length|no finish reason/iu.test(message) ? cutAnswer() : thrown;
}

/** A failure that our own fetch recognised, wherever the library wrapped it. */
function causeOf(thrown: unknown): unknown {
  for (let at = thrown, depth = 0; typeof at === "object" && at !== null && depth < 5; depth += 1) {
    if (at instanceof ModelFailure) return at;
    at = (at as Thrown).cause;
  }
  return null;
}

function bodyOf(body: unknown): unknown {
  if (typeof body !== "string" || body === "") return null;
  try {
    return (JSON.parse(body) as { error?: unknown }).error ?? null;
  } catch {
    // Our own fetch writes error bodies as JSON; anything else is described by the message.
    return null;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "error";
}
