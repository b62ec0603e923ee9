import type { openAiRoutes } from "@convoke/protocol";
import type { Handlers } from "../../http/mount.ts";
import { storedId } from "../../lib/uuid7.ts";
import type { FaceDeps } from "../face-deps.ts";
import { readChat } from "./chat-input.ts";
import { Chats } from "./chats.ts";
import { completion, completionStream } from "./completion.ts";
import { followAnswer } from "./follow-answer.ts";
import { followRun } from "./follow-run.ts";
import { OpenCalls } from "./open-calls.ts";
import { response, responseStream, type ResponseDeps } from "./response.ts";
import { toResponse } from "./response-body.ts";
import { parseResponseId, toResponseId } from "./response-id.ts";
import { readResponseRequest } from "./response-request.ts";
import { storedResponse } from "./stored-response.ts";

const conversationHeader = "x-openhands-serverconversation-id";

/** Profiles as models, conversations as chats. */
export function openAiHandlers(deps: FaceDeps): Handlers<typeof openAiRoutes> {
  const { clock, directory } = deps;
  const chats = new Chats(deps);

  return {
    listOpenAiModels: async ({ caller }) => {
      const data = [...(await chats.modelsOf(caller.userId)).keys()].map((id) => ({
        id,
        object: "model",
        created: 0,
        owned_by: "openhands",
      }));
      return { json: { object: "list", data } };
    },

    createChatCompletion: async (request) => {
      const { model, stream, stream_options: options, ...rest } = request.body;
      const asked = await chats.ask(request, {
        model,
        chat: readChat({ model, ...rest }),
        conversationId: conversationIdOf(request.headers[conversationHeader]),
        clientTools: [],
      });
      const { id } = asked.conversation;
      const completionDeps = {
        id,
        model,
        nowMs: clock.nowMs(),
        parts: followAnswer(asked.watch, asked.afterSeq, request.signal),
        usage: asked.usage,
        onAnswer: (text: string) => asked.remember([text]),
      };
      const reply = replyOf(id);
      if (stream !== true) return { ...reply, json: await completion(completionDeps) };
      const includesUsage = options?.["include_usage"] === true;
      return {
        ...reply,
        stream: completionStream(completionDeps, includesUsage),
        contentType: "text/event-stream",
      };
    },

    createResponse: async (request) => {
      const { body } = request;
      const { conversationId, ...input } = readResponseRequest(body);
      const asked = await chats.ask(request, {
        model: body.model,
        ...input,
        conversationId: conversationId ?? conversationIdOf(request.headers[conversationHeader]),
      });
      const { conversation, afterSeq, before } = asked;
      const facts = {
        id: toResponseId({
          conversationId: conversation.id,
          afterSeq,
          promptTokens: before.prompt_tokens,
          completionTokens: before.completion_tokens,
        }),
        conversationId: conversation.id,
        model: body.model,
        createdAtMs: clock.nowMs(),
        tools: conversation.configuration.config.client_tools ?? [],
        request: body,
      };
      const reply = replyOf(conversation.id);
      if (body.background === true) {
        const state = { status: "in_progress", output: [], completedAtMs: null, usage: null } as const;
        return { ...reply, json: toResponse(facts, state) };
      }
      const responseDeps: ResponseDeps = {
        facts,
        clock,
        parts: followRun(asked.watch, afterSeq, request.signal, new OpenCalls(asked.open)),
        usage: asked.usage,
        onAnswer: asked.remember,
      };
      if (body.stream !== true) return { ...reply, json: await response(responseDeps) };
      return { ...reply, stream: responseStream(responseDeps), contentType: "text/event-stream" };
    },

    getResponse: async ({ caller, params: { response_id: id } }) => {
      return {
        ...replyOf(parseResponseId(id).conversationId),
        json: await storedResponse(directory, caller, id),
      };
    },

    cancelResponse: async ({ caller, params: { response_id: id } }) => {
      const { conversationId } = parseResponseId(id);
      const before = await storedResponse(directory, caller, id);
      if (before["status"] !== "in_progress") return { ...replyOf(conversationId), json: before };
      await (await directory.open(caller, conversationId)).halts.interrupt();
      return { ...replyOf(conversationId), json: await storedResponse(directory, caller, id) };
    },
  };
}

function replyOf(id: string): { readonly headers: Record<string, string> } {
  return { headers: { "X-OpenHands-ServerConversation-ID": id } };
}

function conversationIdOf(header: string | string[] | undefined): string | null {
  if (typeof header !== "string" || header === "") return null;
  return storedId(header);
}
