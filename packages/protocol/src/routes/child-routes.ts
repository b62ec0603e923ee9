import { StartChildConversationRequest, StartChildConversationResponse } from "../workspace/runtime.ts";
import { conversationParams } from "./parameters.ts";
import { invalid, noConversation } from "./responses.ts";
import { routesOf } from "./route.ts";

/** Child conversations, and flushing to disk. Source: agent server 1.58. */
export const childConversationRoutes = routesOf("Conversations", {
  startChildConversation: {
    method: "POST",
    path: "/api/conversations/{conversation_id}/children",
    summary: "Give work to a new conversation that has what this one has",
    auth: true,
    inScope: false,
    params: conversationParams,
    body: StartChildConversationRequest,
    responses: {
      201: { description: "It runs.", schema: StartChildConversationResponse },
      ...noConversation,
      ...invalid,
    },
  },
  prepareForSandboxPause: {
    method: "POST",
    path: "/api/conversations/prepare-for-sandbox-pause",
    summary: "Answer that everything is on the disk already",
    auth: true,
    responses: { 204: { description: "The machine may be paused." } },
  },
});
