import { Type } from "typebox";
import { EventContext } from "../conversation/event-context.ts";
import { GenerateTitleRequest, GenerateTitleResponse } from "../requests/update-conversation.ts";
import { conversationParams } from "./parameters.ts";
import { conflict, invalid, modelFailed, noConversation } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const prefix = "/api/conversations/{conversation_id}";

/** Model requests of a conversation. Our own; `generate_title` is a route of older agent servers. */
export const contextRoutes = routesOf("Context", {
  getEventContext: {
    method: "GET",
    path: `${prefix}/events/{event_id}/context`,
    summary: "What the model was asked that led to an event, or that first had it before it",
    auth: true,
    params: Type.Object({ ...conversationParams.properties, event_id: Type.String() }),
    responses: { ...ok("The request.", EventContext), ...noConversation, ...conflict, ...invalid },
  },
  generateTitle: {
    method: "POST",
    path: `${prefix}/generate_title`,
    summary: "Have a title written for the conversation, without setting it",
    auth: true,
    params: conversationParams,
    body: GenerateTitleRequest,
    responses: {
      ...ok("The title.", GenerateTitleResponse),
      ...noConversation,
      ...conflict,
      ...invalid,
      ...modelFailed,
    },
  },
});
