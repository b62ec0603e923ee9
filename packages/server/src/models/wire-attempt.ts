import { onceUnlessRejected } from "@convoke/protocol";
import { readAnswer, type Answer, type AttemptContext } from "./answer.ts";
import { spentOn, toResponse, type Answered } from "./answered.ts";
import type { Attempt, AttemptPart } from "./attempt.ts";
import type { ModelClock } from "./clock.ts";
import { failureIn } from "./error-event.ts";
import { missingKey, readingFailure } from "./failures.ts";
import type { ModelRequest } from "./model.ts";
import type { ModelSettings } from "./model-settings.ts";
import { findRefusedField } from "./optional-fields.ts";
import type { Send } from "./provider-fetch.ts";
import { sendWithoutRefused, type Sending } from "./send-without-refused.ts";
import type { ServerSentEvent } from "./sse.ts";
import type { TokenCounts } from "./usage.ts";

/** What differs between the providers' APIs over HTTP; `Client` is the SDK that sends. */
export type Wire<Client> = {
  /** Loads the SDK at the first request: it is half of what a server would load before it listens. */
  readonly open: (settings: ModelSettings, send: Send) => Promise<Client>;
  readonly createAnswer: () => WireAnswer;
  /** Sends one request, always asked to stream. `optionalFields` are those in it that may be left out. */
  readonly post: (
    client: Client,
    request: ModelRequest,
    refused: ReadonlySet<string>,
    signal: AbortSignal,
  ) => { readonly response: Promise<Response>; readonly optionalFields: readonly string[] };
};

/** Collects one answer of a wire. */
export type WireAnswer = {
  readonly id: string;
  /** Null while the provider has not counted. */
  readonly tokens: TokenCounts | null;
  /** The provider sent its end marker. */
  readonly isEnded: boolean;
  /** Adds an event of a stream and yields what to show of it. Throws when the event says that the answer failed. */
  addEvent(event: ServerSentEvent): Iterable<AttemptPart>;
  /** Adds the one JSON value of a server that ignores `stream`. */
  addWhole(value: unknown): Iterable<AttemptPart>;
  /** The whole answer. Throws when it is cut, blocked or missing. */
  finish(): Answered;
};

export type AdapterDeps = { readonly send: Send; readonly clock: ModelClock };

/** Attempts on one wire: the request, its answer, what it cost, and what its failure means. */
export function createWireAttempt<Client>(
  wire: Wire<Client>,
  settings: ModelSettings,
  deps: AdapterDeps,
): Attempt {
  const opened = onceUnlessRejected(() => wire.open(settings, deps.send));
  const refused = new Set<string>();
  return async function* (request, context) {
    if (settings.apiKey === null && settings.route.isKeyRequired) throw missingKey(settings.route.provider);
    const startMs = deps.clock.nowMs();
    const answer = wire.createAnswer();
    const client = await opened();
    const begin = (without: ReadonlySet<string>): Sending<Response> => {
      const sent = wire.post(client, request, without, context.signal);
      const findRefused = (error: unknown): string | null => findRefusedField(error, sent.optionalFields);
      return { answer: context.wait(sent.response), findRefused };
    };
    const response = await sendWithoutRefused({ begin, request, settings, refused });
    try {
      yield* collect(answer, await readAnswer(response, context), context);
      const answered = answer.finish();
      yield { type: "done", response: toResponse(answered, settings, deps.clock.nowMs() - startMs) };
    } catch (error) {
      yield* spentOn(answer, settings);
      throw readingFailure(error);
    }
  };
}

/** Feeds an answer to its collector. */
async function* collect(
  answer: WireAnswer,
  body: Answer,
  context: AttemptContext,
): AsyncGenerator<AttemptPart, void> {
  if (body.type === "json") {
    const failure = failureIn(body.value);
    if (failure !== null) throw failure;
    yield* answer.addWhole(body.value);
    return;
  }
  try {
    for await (const event of body.events) {
      if (answer.isEnded) continue;
      yield* answer.addEvent(event);
      if (answer.isEnded) context.expectEnd();
    }
  } catch (error) {
    // Whatever happens to the connection after the last event no longer matters.
    if (!answer.isEnded) throw error;
  }
}
