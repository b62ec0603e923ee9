import type OpenAI from "openai";
import { addressOf } from "../address/address.ts";
import type { ModelSettings } from "../model-settings.ts";
import { openClient, postBody } from "../openai-client.ts";
import type { Wire } from "../wire-attempt.ts";
import { ChatAnswer } from "./openai-chat-answer.ts";
import { buildChatRequest } from "./openai-chat-request.ts";

/** Chat completions as OpenAI defined them and many servers copy them. */
export function openaiChatWire(settings: ModelSettings): Wire<OpenAI> {
  const { wire, place: host, model } = addressOf(settings.route);
  return {
    open: openClient,
    createAnswer: () => new ChatAnswer({ wire, host, model }),
    post: (client, request, refused, signal) => {
      const { body, optionalFields } = buildChatRequest(request, settings, refused);
      return { response: postBody(client, "/chat/completions", body, signal), optionalFields };
    },
  };
}
