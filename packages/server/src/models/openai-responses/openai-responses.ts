import { onceUnlessRejected } from "@convoke/protocol";
import type OpenAI from "openai";
import { readAnswer, type Answer, type AttemptContext } from "../answer.ts";
import { spentOn, toResponse } from "../answered.ts";
import type { Attempt, AttemptPart } from "../attempt.ts";
import type { ModelClock } from "../clock.ts";
import { readEvent } from "../error-event.ts";
import { missingKey, readingFailure } from "../failures.ts";
import type { ModelRequest } from "../model.ts";
import { hostOf } from "../model-names.ts";
import type { ModelSettings } from "../model-settings.ts";
import { openClient, postBody } from "../openai-client.ts";
import { ResponsesAnswer, type ResponseObject, type ResponsesEvent } from "./openai-responses-answer.ts";
import { buildResponsesRequest } from "./openai-responses-request.ts";
import { findRefusedField } from "../optional-fields.ts";
import type { Send } from "../provider-fetch.ts";

type AdapterDeps = { readonly send: Send; readonly clock: ModelClock };

/** OpenAI's responses API; always asked to stream and to store nothing. */
export function createOpenaiResponsesAttempt(settings: ModelSettings, deps: AdapterDeps): Attempt {
  const opened = onceUnlessRejected(() => openClient(settings, deps.send));
  const refused = new Set<string>();
  return async function* (request, context) {
    if (settings.apiKey === null && settings.route.isKeyRequired) throw missingKey(settings.route.provider);
    const startMs = deps.clock.nowMs();
    const answer = new ResponsesAnswer(hostOf(settings.route.baseUrl));
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
  answer: ResponsesAnswer,
  body: Answer,
  context: AttemptContext,
): AsyncGenerator<AttemptPart, void> {
  if (body.type === "json") {
    yield* answer.addWhole(body.value as ResponseObject);
    return;
  }
  try {
    for await (const event of body.events) {
      if (answer.isEnded || event.data.trim() === "[DONE]") continue;
      yield* answer.add(readEvent(event) as ResponsesEvent);
      if (answer.isEnded) context.expectEnd();
    }
  } catch (error) {
    // Whatever happens to the connection after the last event no longer matters.
    if (!answer.isEnded) throw error;
  }
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
  const { body, optionalFields } = buildResponsesRequest(request, settings, refused);
  return { answer: postBody(client, "/responses", body, signal), optionalFields };
}
