import type OpenAI from "openai";
import { hostOf } from "../model-names.ts";
import type { ModelSettings } from "../model-settings.ts";
import { openClient, postBody } from "../openai-client.ts";
import type { Wire } from "../wire-attempt.ts";
import { ResponsesAnswer } from "./openai-responses-answer.ts";
import { buildResponsesRequest } from "./openai-responses-request.ts";

/** OpenAI's responses API; asked to store nothing. */
export function openaiResponsesWire(settings: ModelSettings): Wire<OpenAI> {
  return {
    open: openClient,
    createAnswer: () => new ResponsesAnswer(hostOf(settings.route.baseUrl)),
    post: (client, request, refused, signal) => {
      const { body, optionalFields } = buildResponsesRequest(request, settings, refused);
      return { response: postBody(client, "/responses", body, signal), optionalFields };
    },
  };
}
