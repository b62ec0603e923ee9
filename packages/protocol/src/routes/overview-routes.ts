import { Type } from "typebox";
import { ConversationExecutionStatus } from "../conversation/conversation-info.ts";
import { GlancePage, SetMarksRequest, Start } from "../conversation/glance.ts";
import { OutlinePage } from "../conversation/outline.ts";
import { Landmarks, PastState } from "../conversation/past.ts";
import { ReplayCheck } from "../conversation/replay-check.ts";
import { LeftBehind } from "../conversation/wall.ts";
import { orAbsent, ref } from "../schema.ts";
import { conversationParams, pageLimit } from "./parameters.ts";
import { conflict, done, invalid, noConversation } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

/** Summaries of conversations for people. */
export const overviewRoutes = routesOf("Overview", {
  getStart: {
    method: "GET",
    path: "/api/start",
    summary:
      "What a page begins with: who calls, what they may do, and their conversations that changed last",
    auth: true,
    responses: ok("The beginning.", Start),
  },
  searchGlances: {
    method: "GET",
    path: "/api/glances",
    summary: "Page through one's conversations, the last changed first, each in one row",
    auth: true,
    inScope: true,
    query: Type.Object({
      page_id: orAbsent(Type.String(), { description: "The next_page_id of the page before." }),
      limit: pageLimit,
      q: orAbsent(Type.String({ maxLength: 200 }), { description: "Part of the title, in any case." }),
      tag: orAbsent(Type.String({ maxLength: 600 }), {
        description: "A tag, or a tag and its value: `team:search`.",
      }),
      working_dir: orAbsent(Type.String({ maxLength: 4096 })),
      status: Type.Optional(
        Type.Array(ref(ConversationExecutionStatus), { maxItems: 8, description: "One of them." }),
      ),
      archived: Type.Optional(
        Type.Boolean({ description: "Only archived conversations, or only the others." }),
      ),
      pinned: Type.Optional(Type.Boolean()),
      parent: orAbsent(Type.String(), {
        description: "Only the parts of this conversation; `none` for those that are a part of none.",
      }),
      updated_at__gte: orAbsent(Type.String({ format: "date-time" })),
    }),
    responses: { ...ok("A page of glances.", GlancePage), ...invalid },
  },
  getOutline: {
    method: "GET",
    path: "/api/conversations/{conversation_id}/outline",
    summary: "The turns of a conversation, the newest first, each with what happened in it",
    auth: true,
    inShare: true,
    params: conversationParams,
    query: Type.Object({
      page_id: orAbsent(Type.String(), { description: "The next_page_id of the page before." }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 50 })),
    }),
    responses: { ...ok("A page of turns.", OutlinePage), ...noConversation, ...invalid },
  },
  getLeftBehind: {
    method: "GET",
    path: "/api/conversations/{conversation_id}/left_behind",
    summary:
      "What the agent has left in its folder that an editor, a shell or git of its person would run later, outside of the wall",
    auth: true,
    params: conversationParams,
    responses: { ...ok("What the folder has now.", LeftBehind), ...noConversation, ...conflict, ...invalid },
  },
  getPast: {
    method: "GET",
    path: "/api/conversations/{conversation_id}/at",
    summary: "A conversation as it stood at an event of its log, or at a position of it; now without either",
    auth: true,
    params: conversationParams,
    query: Type.Object({
      event_id: orAbsent(Type.String()),
      position: orAbsent(
        Type.Integer({ minimum: 1, description: "The first event has 1; beyond the end it is the newest." }),
      ),
    }),
    responses: { ...ok("How it stood.", PastState), ...noConversation, ...invalid },
  },
  getLandmarks: {
    method: "GET",
    path: "/api/conversations/{conversation_id}/landmarks",
    summary: "Where in the log of a conversation turns begin, and where something failed or was rejected",
    auth: true,
    params: conversationParams,
    responses: {
      ...ok("Positions, ascending; at most 500 of each sort, spread over the log.", Landmarks),
      ...noConversation,
      ...invalid,
    },
  },
  checkReplay: {
    method: "POST",
    path: "/api/conversations/{conversation_id}/replay",
    summary: "Rebuild every model request of a conversation from its log, and compare it with its record",
    auth: true,
    params: conversationParams,
    responses: { ...ok("What was found.", ReplayCheck), ...noConversation, ...invalid },
  },
  setMarks: {
    method: "PUT",
    path: "/api/conversations/{conversation_id}/marks",
    summary: "Pin a conversation, put it away, or keep how far it was read",
    auth: true,
    params: conversationParams,
    body: SetMarksRequest,
    responses: { ...done, ...noConversation, ...invalid },
  },
});
