import { onceUnlessRejected } from "@convoke/protocol";
import type OpenAI from "openai";
import { addressOf } from "../address/address.ts";
import { readAnswer, type Answer, type AttemptContext } from "../answer.ts";
import { spentOn, toResponse } from "../answered.ts";
import type { Attempt, AttemptPart } from "../attempt.ts";
import type { ModelClock } from "../clock.ts";
import { readEvent } from "../error-event.ts";
import { missingKey, readingFailure } from "../failures.ts";
import type { ModelRequest } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { ChatAnswer, type ChatChunk } from "./openai-chat-answer.ts";
import { buildChatRequest } from "./openai-chat-request.ts";
import { openClient, postBody } from "../openai-client.ts";
import { findRefusedField } from "../optional-fields.ts";
import type { Send } from "../provider-fetch.ts";

type AdapterDeps = { readonly send: Send; readonly clock: ModelClock };

/** Chat completions as OpenAI defined them and many servers copy them; always asked to stream. */
export function createOpenaiChatAttempt(settings: ModelSettings, deps: AdapterDeps): Attempt {
  const opened = onceUnlessRejected(() => openClient(settings, deps.send));
  const refused = new Set<string>();
  const { wire, place: host, model } = addressOf(settings.route);
  return async function* (request, context) {
    if (settings.apiKey === null && settings.route.isKeyRequired) throw missingKey(settings.route.provider);
    const startMs = deps.clock.nowMs();
    const answer = new ChatAnswer({ wire, host, model });
    const client = await opened();
    const response = await send(client, request, settings, refused, context);
    try {
      const isEnded = yield* collect(answer, await readAnswer(response, context), context);
      const answered = answer.finish(isEnded);
      yield { type: "done", response: toResponse(answered, settings, deps.clock.nowMs() - startMs) };
    } catch (error) {
      yield* spentOn(answer, settings);
      throw readingFailure(error);
    }
  };
}

/** Feeds an answer to its collector; true when the provider marked its end. */
async function* collect(
  answer: ChatAnswer,
  body: Answer,
  context: AttemptContext,
): AsyncGenerator<AttemptPart, boolean> {
  if (body.type === "json") {
    yield* answer.add(body.value as ChatChunk);
    return true;
  }
  let isEnded = false;
  try {
    for await (const event of body.events) {
      if (isEnded) continue;
      if (event.data.trim() === "[DONE]") {
        isEnded = true;
        context.expectEnd();
      } else yield* answer.add(readEvent(event) as ChatChunk);
    }
  } catch (error) {
    // Whatever happens to the connection after the last chunk no longer matters.
    if (!isEnded) throw error;
  }
  return isEnded;
}

/** Sends the request; leaves out what the provider refuses by name and remembers it for later requests. */
async function send(
  client: OpenAI,
  request: ModelRequest,
  settings: ModelSettings,
  refused: Set<string>,
  context: AttemptContext,
): Promise<Response> {
  while (true) {
    const { answer, optionalFields } = begin(client, request, settings, refused, context);
    try {
      return await context.wait(answer);
    } catch (error) {
      const field = settings.isUnsupportedDropped ? findRefusedField(error, optionalFields) : null;
      if (field === null || request.leaving?.aborted === true) throw error;
      refused.add(field);
    }
  }
}

/** In a frame of its own, so that nothing holds the body while the answer is waited for. */
function begin(
  client: OpenAI,
  request: ModelRequest,
  settings: ModelSettings,
  refused: ReadonlySet<string>,
  { signal }: AttemptContext,
): { readonly answer: Promise<Response>; readonly optionalFields: readonly string[] } {
  const { body, optionalFields } = buildChatRequest(request, settings, refused);
  return { answer: postBody(client, "/chat/completions", body, signal), optionalFields };
}
