import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import type { AttemptContext } from "../answer.ts";
import { AiSdkAnswer, type AnswerBlock } from "./ai-sdk-answer.ts";
import { toProviderError } from "./ai-sdk-error.ts";
import { spentOn, toResponse } from "../answered.ts";
import type { Attempt } from "../attempt.ts";
import { missingKey } from "../failures.ts";
import type { AssistantMessage, ModelRequest } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import type { Send } from "../provider-fetch.ts";
import { sendWithoutRefused, type Sending } from "../send-without-refused.ts";
import { createStreamingFetch } from "../streaming-fetch.ts";
import type { AdapterDeps } from "../wire-attempt.ts";

/** One provider behind the AI SDK's language model interface. */
export type AiSdkWire = {
  /** Loads the provider's package at the first request. */
  readonly open: (settings: ModelSettings, send: Send) => Promise<LanguageModelV4>;
  readonly toOptions: (
    request: ModelRequest,
    settings: ModelSettings,
    refused: ReadonlySet<string>,
  ) => LanguageModelV4CallOptions;
  /** True when its answers are no stream of lines but of frames, each of them short. */
  readonly isBinary?: boolean;
  /** True for the provider's last chunk: nothing that matters follows. */
  readonly isLastChunk: (chunk: object) => boolean;
  /** Adds what the provider wants back with the next request. */
  readonly withSealed: (
    message: AssistantMessage,
    blocks: readonly AnswerBlock[],
    settings: ModelSettings,
  ) => AssistantMessage;
};

const optionalFeatures: readonly (readonly [string, RegExp])[] = [
  ["cachePoint", /cache ?point|prompt caching/iu],
  ["thinking", /thinking|reasoning/iu],
];

/** A provider behind the AI SDK; always asked to stream. Neither the SDK's loop nor its retries are used. */
export function createAiSdkAttempt(wire: AiSdkWire, settings: ModelSettings, deps: AdapterDeps): Attempt {
  const refused = new Set<string>();
  return async function* (request, context) {
    const hasKey = settings.apiKey !== null || settings.aws !== null;
    if (!hasKey && settings.route.isKeyRequired) throw missingKey(settings.route.provider);
    const startMs = deps.clock.nowMs();
    const answer = new AiSdkAnswer();
    const { fetch, end } = createStreamingFetch(deps.send, context, wire);
    const model = await wire.open(settings, fetch);
    try {
      const begin = (without: ReadonlySet<string>): Sending<StreamResult> => ({
        answer: start(model, wire.toOptions(request, settings, without), context),
        findRefused: (error) => findRefusedFeature(error, without),
      });
      const { stream } = await sendWithoutRefused({ begin, request, settings, refused });
      for await (const part of readParts(stream, context)) {
        if (part.type === "error") throw part.error;
        if (part.type === "raw") {
          if (isObject(part.rawValue) && wire.isLastChunk(part.rawValue)) end();
        } else yield* answer.add(part);
      }
      const answered = answer.finish();
      const message = wire.withSealed(answered.message, answer.blocks, settings);
      const latencyMs = deps.clock.nowMs() - startMs;
      yield { type: "done", response: toResponse({ ...answered, message }, settings, latencyMs) };
    } catch (error) {
      yield* spentOn(answer, settings);
      throw toProviderError(error);
    }
  };
}

async function* readParts(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  context: AttemptContext,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const reader = stream.getReader();
  try {
    while (true) {
      const next = await context.wait(reader.read());
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // A stream that failed already has nothing left to cancel.
    reader.cancel().catch(() => undefined);
  }
}

type StreamResult = Awaited<ReturnType<LanguageModelV4["doStream"]>>;

async function start(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  context: AttemptContext,
): Promise<StreamResult> {
  const whole = { ...options, includeRawChunks: true, abortSignal: context.signal };
  return context.wait(Promise.resolve(model.doStream(whole)));
}

/** The optional feature that a provider's rejection is about; null when it is about something else. */
function findRefusedFeature(error: unknown, refused: ReadonlySet<string>): string | null {
  const { statusCode, responseBody } = error as { statusCode?: unknown; responseBody?: unknown };
  const text = statusCode === 400 && typeof responseBody === "string" ? responseBody : "";
  const feature = optionalFeatures.find(([name, phrase]) => !refused.has(name) && phrase.test(text));
  return feature?.[0] ?? null;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
