import { Type, type Static } from "typebox";
import { anyObject, list, object, orNull, ref } from "../schema.ts";
import { ErrorReply } from "../requests/replies.ts";
import { invalid, ok } from "./responses.ts";
import { routesOf } from "./route.ts";

const open = { additionalProperties: true };

/** One turn of a chat as OpenAI clients send it; only its texts and pictures are read. */
export const ChatMessage = object(
  "OpenAIChatMessage",
  { role: Type.String(), content: orNull(Type.Union([Type.String(), Type.Array(anyObject())])) },
  open,
);
export type ChatMessage = Static<typeof ChatMessage>;

/** A chat completion request; fields that are not here are passed over. */
export const ChatCompletionRequest = object(
  "OpenAIChatCompletionRequest",
  {
    model: Type.String(),
    messages: list(ref(ChatMessage)),
    stream: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    stream_options: orNull(anyObject()),
  },
  open,
);
export type ChatCompletionRequest = Static<typeof ChatCompletionRequest>;

/** What OpenAI clients use: each model is a stored profile, each chat a conversation. Source: reference, agent-server 23. */
export const openAiRoutes = routesOf("OpenAI", {
  listOpenAiModels: {
    method: "GET",
    path: "/v1/models",
    summary: "The profiles as models",
    auth: true,
    responses: ok("The models.", anyObject()),
  },
  createChatCompletion: {
    method: "POST",
    path: "/v1/chat/completions",
    summary: "Let an agent answer a chat, as one answer or as a stream",
    auth: true,
    body: ChatCompletionRequest,
    takesLargeBody: true,
    responses: {
      ...ok("The answer, or a stream of its pieces.", anyObject()),
      404: { description: "There is no such model.", schema: ErrorReply },
      ...invalid,
    },
  },
});
