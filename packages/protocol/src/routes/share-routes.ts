import { Type, type Static } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { closedObject, flag, nullable, object, orAbsent, ref } from "../schema.ts";
import { conversationParams } from "./parameters.ts";
import { conflict, invalid, noConversation } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

/** A link with which everybody who has it reads one conversation. */
export const Share = object("Share", {
  id: Type.String(),
  label: Type.String(),
  /** The last event that the link shows; null: the whole conversation, and what is added to it. */
  up_to_event_id: nullable(Type.String()),
  /** Whether the link shows the system prompt and the tools in it. */
  include_system_prompt: Type.Boolean(),
  created_at: Type.String({ format: "date-time" }),
  expires_at: Type.String({ format: "date-time" }),
  /** Rounded to the minute; null before the first use. */
  last_used_at: nullable(Type.String({ format: "date-time" })),
});
export type Share = Static<typeof Share>;

export const ShareList = object("ShareList", { shares: Type.Array(ref(Share)) });
export type ShareList = Static<typeof ShareList>;

const yearSeconds = 366 * 24 * 60 * 60;

export const CreateShareRequest = closedObject("CreateShareRequest", {
  /** From now on, in seconds: at most a year, 7 days unless given. */
  expires_in_seconds: Type.Optional(Type.Integer({ minimum: 60, maximum: yearSeconds })),
  /** The last event that the link shows; the whole conversation unless given. */
  up_to_event_id: orAbsent(Type.String({ maxLength: 200 })),
  /** Whether the link shows the system prompt and the tools in it. */
  include_system_prompt: flag(false),
  /** Purpose of the link; only its owner sees it. */
  label: Type.Optional(Type.String({ maxLength: 200, default: "" })),
});
export type CreateShareRequest = Static<typeof CreateShareRequest>;

/** The only reply that contains the link. */
export const CreatedShare = object("CreatedShare", {
  ...Share.properties,
  /** The page for visitors, with the key in its fragment. */
  url: Type.String(),
  /** The key of the link, for programs. */
  key: Type.String(),
});
export type CreatedShare = Static<typeof CreatedShare>;

const prefix = "/api/conversations/{conversation_id}/shares";

const refused = {
  403: {
    description: "A key of one conversation makes no links, and no link outlives the key that made it.",
    schema: ErrorReply,
  },
} as const;

/** Our own: links that show one conversation to everybody who has them. */
export const shareRoutes = routesOf("Shares", {
  createShare: {
    method: "POST",
    path: prefix,
    summary: "Make a link to read the conversation, which is told this once",
    auth: true,
    inScope: false,
    params: conversationParams,
    body: CreateShareRequest,
    isBodyOptional: true,
    responses: {
      201: { description: "The link.", schema: CreatedShare },
      ...refused,
      ...noConversation,
      ...conflict,
      ...invalid,
    },
  },
  listShares: {
    method: "GET",
    path: prefix,
    summary: "The conversation's links that can be used",
    auth: true,
    inScope: false,
    params: conversationParams,
    responses: { ...ok("The links, the oldest first.", ShareList), ...noConversation, ...invalid },
  },
  revokeShare: {
    method: "DELETE",
    path: `${prefix}/{share_id}`,
    summary: "End a link, with the sockets that it opened",
    auth: true,
    inScope: false,
    params: Type.Object({
      ...conversationParams.properties,
      share_id: Type.String(),
    }),
    responses: { 204: { description: "It is over." }, ...noConversation, ...invalid },
  },
});
