import { onceUnlessRejected } from "@convoke/protocol";
import type Anthropic from "@anthropic-ai/sdk";
import { readAnswer, type Answer, type AttemptContext } from "../answer.ts";
import { spentOn, toResponse } from "../answered.ts";
import { MessagesAnswer } from "./anthropic-answer.ts";
import { buildMessagesRequest } from "./anthropic-request.ts";
import type { Attempt, AttemptPart } from "../attempt.ts";
import type { ModelClock } from "../clock.ts";
import { readEvent } from "../error-event.ts";
import { missingKey, readingFailure } from "../failures.ts";
import type { ModelRequest } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { findRefusedField } from "../optional-fields.ts";
import { createProviderFetch, neverMs, type Send } from "../provider-fetch.ts";

type AdapterDeps = { readonly send: Send; readonly clock: ModelClock };

/** The Anthropic messages wire, at its maker or at any server that speaks it; always asked to stream. */
export function createAnthropicAttempt(settings: ModelSettings, deps: AdapterDeps): Attempt {
  const opened = onceUnlessRejected(() => openClient(settings, deps.send));
  const refused = new Set<string>();
  return async function* (request, context) {
    if (settings.apiKey === null && settings.route.isKeyRequired) throw missingKey(settings.route.provider);
    const startMs = deps.clock.nowMs();
    const answer = new MessagesAnswer();
    const client = await opened();
    const response = await send(client, request, settings, refused, context);
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

async function* collect(
  answer: MessagesAnswer,
  body: Answer,
  context: AttemptContext,
): AsyncGenerator<AttemptPart, void> {
  if (body.type === "json") {
    yield* answer.addWhole(body.value as Anthropic.Message);
    return;
  }
  try {
    for await (const event of body.events) {
      if (answer.isStopped) continue;
      yield* answer.add(readEvent(event) as Anthropic.RawMessageStreamEvent);
      if (answer.isStopped) context.expectEnd();
    }
  } catch (error) {
    // Whatever happens to the connection after the last event no longer matters.
    if (!answer.isStopped) throw error;
  }
}

/** The SDK is loaded at the first request: it is half of what a server would load before it listens. */
async function openClient(settings: ModelSettings, send: Send): Promise<Anthropic> {
  const { default: Client } = await import("@anthropic-ai/sdk");
  // The SDK insists on a key; the headers below are what is sent.
  const key = settings.apiKey ?? "none";
  return new Client({
    apiKey: key,
    baseURL: settings.route.baseUrl,
    webhookKey: null,
    openTelemetry: false,
    maxRetries: 0,
    timeout: neverMs,
    logLevel: "off",
    fetch: createProviderFetch(send, { ...keyHeaders(key), ...settings.headers }),
  });
}

/** OAuth tokens of this maker are bearer tokens, and its API keys are not; servers that copy the API accept this too. */
function keyHeaders(key: string): Record<string, string> {
  return key.startsWith("sk-ant-oat") ? { authorization: `Bearer ${key}` } : { "x-api-key": key };
}

/** Sends the request; leaves out what the provider refuses by name and remembers it for later requests. */
async function send(
  client: Anthropic,
  request: ModelRequest,
  settings: ModelSettings,
  refused: Set<string>,
  context: AttemptContext,
): Promise<Response> {
  while (true) {
    const { body, betas, optionalFields } = buildMessagesRequest(request, settings, refused);
    const headers = betas.length > 0 ? { "anthropic-beta": betas.join(",") } : {};
    try {
      // Not through `messages.create`, which writes advice about models to the console.
      const options = { body, headers, signal: context.signal, stream: true };
      return await context.wait(client.post("/v1/messages", options).asResponse());
    } catch (error) {
      const field = settings.isUnsupportedDropped ? findRefusedField(error, optionalFields) : null;
      if (field === null || request.leaving?.aborted === true) throw error;
      refused.add(field);
    }
  }
}
