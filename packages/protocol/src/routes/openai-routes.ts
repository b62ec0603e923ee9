import { Type, type Static } from "typebox";
import { anyObject, list, mapOf, object, orNull, ref } from "../schema.ts";
import { ErrorReply } from "../requests/replies.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const open = { additionalProperties: true };

/** One message of a chat from an OpenAI client; only its texts and images are read. */
export const ChatMessage = object(
  "OpenAIChatMessage",
  { role: Type.String(), content: orNull(Type.Union([Type.String(), Type.Array(anyObject())])) },
  open,
);
export type ChatMessage = Static<typeof ChatMessage>;

/** A chat completion request; other fields are ignored. */
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

/**
 * A request to the responses API. `conversation` is the id of a conversation of this server. Fields that would change the answer and
 * are not here are refused with 400 and their name.
 */
export const OpenAIResponseRequest = object(
  "OpenAIResponseRequest",
  {
    model: Type.String(),
    input: Type.Union([Type.String(), Type.Array(anyObject())]),
    instructions: orNull(Type.String()),
    previous_response_id: orNull(Type.String()),
    conversation: orNull(Type.Union([Type.String(), anyObject()])),
    background: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    store: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    stream: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    tools: orNull(Type.Array(anyObject(), { maxItems: 100 })),
    metadata: orNull(mapOf(Type.String())),
  },
  open,
);
export type OpenAIResponseRequest = Static<typeof OpenAIResponseRequest>;

const responseParams = Type.Object({ response_id: Type.String() });
const noResponse = { 404: { description: "There is no such response.", schema: ErrorReply } } as const;

/** Routes for OpenAI clients: each model is a stored profile, each chat a conversation. */
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
  createResponse: {
    method: "POST",
    path: "/v1/responses",
    summary:
      "Let an agent answer in the form of OpenAI's newer wire: whole, as a stream, or in the background",
    auth: true,
    body: OpenAIResponseRequest,
    takesLargeBody: true,
    responses: {
      ...ok("The answer, a stream of its events, or what there is of it.", anyObject()),
      400: { description: "A field is not supported; its name is in `param`.", schema: ErrorReply },
      404: { description: "There is no such model, response or conversation.", schema: ErrorReply },
      ...invalid,
    },
  },
  getResponse: {
    method: "GET",
    path: "/v1/responses/{response_id}",
    summary: "Read a response as far as it has come",
    auth: true,
    params: responseParams,
    responses: { ...ok("The response.", anyObject()), ...noResponse, ...invalid },
  },
  cancelResponse: {
    method: "POST",
    path: "/v1/responses/{response_id}/cancel",
    summary: "End the work on a response",
    auth: true,
    params: responseParams,
    responses: { ...ok("The response.", anyObject()), ...noResponse, ...invalid },
  },
});
