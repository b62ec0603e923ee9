import { hasMoreValues, maxJsonValues } from "@convoke/protocol";
import { AnswerBound } from "../lib/answer-bound.ts";
import { ModelFailure } from "./classify.ts";
import { decodeEvents, type ServerSentEvent } from "./sse.ts";

/** What a provider sent back: a stream of events, or one JSON value from servers that ignore `stream`. */
export type Answer =
  | { readonly type: "events"; readonly events: AsyncIterable<ServerSentEvent> }
  | { readonly type: "json"; readonly value: unknown };

/** How one attempt waits: `wait` counts as silence of the provider until the promise settles. */
export type AttemptContext = {
  readonly signal: AbortSignal;
  wait<T>(promise: Promise<T>): Promise<T>;
  /** Bytes arrived that the waiting reader may not see: restarts the idle timeout. */
  received(): void;
  /** The answer is complete: the connection must end within a short grace period. */
  expectEnd(): void;
};

/** Reads an answer by what it contains; its content type is often wrong. A web page throws a ModelFailure. */
export async function readAnswer(response: Response, context: AttemptContext): Promise<Answer> {
  const chunks = readChunks(response, context);
  const head: Uint8Array[] = [];
  const decoder = new TextDecoder();
  let start = "";
  while (start === "") {
    const next = await chunks.next();
    if (next.done === true)
      return { type: "events", events: decodeEvents(boundEvents(replay(head, chunks))) };
    head.push(next.value);
    start = (start + decoder.decode(next.value, { stream: true })).trimStart();
  }
  if (start.startsWith("<")) throw webPageFailure();
  const all = replay(head, chunks);
  if (/^[[{]/u.test(start)) {
    const bytes = await readBytes(all);
    if (hasMoreValues(bytes, maxJsonValues)) throw tooManyValues();
    return { type: "json", value: JSON.parse(bytes.toString("utf8")) };
  }
  return { type: "events", events: decodeEvents(boundEvents(all)) };
}

async function* readChunks(response: Response, context: AttemptContext): AsyncGenerator<Uint8Array, void> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  let bytes = 0;
  const cancel = (): void => {
    // Ends a pending read at once; the body may have failed already, and then there is nothing left to cancel.
    reader.cancel().catch(() => undefined);
  };
  context.signal.addEventListener("abort", cancel, { once: true });
  try {
    while (true) {
      context.signal.throwIfAborted();
      const next = await context.wait(reader.read());
      context.signal.throwIfAborted();
      if (next.done) return;
      bytes += next.value.length;
      if (bytes > longestAnswerBytes) throw tooLongAnswer();
      yield next.value;
    }
  } finally {
    context.signal.removeEventListener("abort", cancel);
    cancel();
  }
}

async function* replay(
  head: readonly Uint8Array[],
  rest: AsyncGenerator<Uint8Array, void>,
): AsyncGenerator<Uint8Array, void> {
  yield* head;
  yield* rest;
}

/** Each event is parsed as a whole. */
async function* boundEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const bound = new AnswerBound({ isStream: true, maxBytes: longestAnswerBytes });
  for await (const chunk of chunks) {
    if (bound.push(chunk) !== null) throw tooManyValues();
    yield chunk;
  }
  if (bound.end() !== null) throw tooManyValues();
}

async function readBytes(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

/** No model says this much; a server that does is broken or hostile. */
export const longestAnswerBytes = 64 * 1024 * 1024;

export function tooLongAnswer(): ModelFailure {
  return new ModelFailure({
    code: "LLMBadRequestError",
    detail: "The provider's answer was longer than 64 MB and was given up. Check llm.base_url.",
    isRetryable: false,
  });
}

export function tooManyValues(): ModelFailure {
  return new ModelFailure({
    code: "LLMBadRequestError",
    detail: `The provider's answer held more than ${maxJsonValues} values and was given up. Check llm.base_url.`,
    isRetryable: false,
  });
}

export function webPageFailure(): ModelFailure {
  return new ModelFailure({
    code: "LLMBadRequestError",
    detail:
      "The address of the model answered with a web page instead of a model's answer: " +
      "check llm.base_url, which usually ends with /v1.",
    isRetryable: false,
  });
}
