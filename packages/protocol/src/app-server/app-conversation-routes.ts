import { Type } from "typebox";
import { tolerateMessage } from "../requests/tolerate.ts";
import { done, invalid } from "../routes/responses.ts";
import { ok } from "../routes/ok.ts";
import { routesOf } from "../routes/route.ts";
import { SwitchAcpModelRequest } from "../workspace/acp-models.ts";
import { flag, orAbsent, nullable, ref } from "../schema.ts";
import {
  AppConversation,
  AppConversationPage,
  AppConversationSortOrder,
  AppConversationUpdateRequest,
} from "./app-conversation.ts";
import {
  AppSendMessageRequest,
  AppSendMessageResponse,
  PendingMessageRequest,
  PendingMessageResponse,
} from "./app-message.ts";
import { appConversationParams as params, dateTime, maxIds, paging } from "./list-parameters.ts";
import { noSuch, refusal } from "./refusals.ts";

const prefix = "/api/v1/app-conversations";
const filter = {
  title__contains: orAbsent(Type.String(), { description: "Only titles with this text, in any case." }),
  created_at__gte: orAbsent(dateTime),
  created_at__lt: orAbsent(dateTime),
  updated_at__gte: orAbsent(dateTime),
  updated_at__lt: orAbsent(dateTime),
  sandbox_id__eq: orAbsent(Type.String(), { description: "Only conversations in this sandbox." }),
};
const search = {
  ...filter,
  ...paging,
  include_sub_conversations: flag(false),
  sort_order: Type.Optional(ref(AppConversationSortOrder, { default: "CREATED_AT_DESC" })),
};
const missing = noSuch("conversation");

/** Conversations in sandboxes. Source: contract 4.4. */
export const appConversationRoutes = routesOf("App conversations", {
  searchAppConversations: {
    method: "GET",
    path: `${prefix}/search`,
    summary: "Page through one's conversations, the newest first",
    auth: true,
    query: Type.Object(search),
    responses: { ...ok("A page of conversations.", AppConversationPage), ...invalid },
  },
  countAppConversations: {
    method: "GET",
    path: `${prefix}/count`,
    summary: "Count one's conversations that pass a filter",
    auth: true,
    query: Type.Object({ ...filter, include_sub_conversations: search.include_sub_conversations }),
    responses: { ...ok("The number of conversations.", Type.Integer()), ...invalid },
  },
  listAppConversations: {
    method: "GET",
    path: prefix,
    summary: "With `ids`, read those conversations; without, page through all as the search does",
    auth: true,
    query: Type.Object({
      ids: Type.Optional(Type.Array(Type.String({ format: "uuid" }), { maxItems: maxIds })),
      ...search,
    }),
    responses: {
      ...ok(
        "The conversations in the order asked for, null for those that do not exist; or a page.",
        Type.Union([Type.Array(nullable(ref(AppConversation))), ref(AppConversationPage)]),
      ),
      ...invalid,
    },
  },
  updateAppConversation: {
    method: "PATCH",
    path: `${prefix}/{conversation_id}`,
    summary: "Change the title and the like; what is not named stays",
    auth: true,
    params,
    body: AppConversationUpdateRequest,
    responses: { ...ok("The conversation.", AppConversation), ...missing, ...invalid },
  },
  switchAppAcpModel: {
    method: "POST",
    path: `${prefix}/{conversation_id}/switch_acp_model`,
    summary: "Use another model of the other agent",
    auth: true,
    params,
    body: SwitchAcpModelRequest,
    responses: {
      ...done,
      ...missing,
      ...invalid,
      ...refusal(400, "It has no other agent, or that one offers no such model."),
      ...refusal(504, "The agent did not answer in time."),
    },
  },
  deleteAppConversation: {
    method: "DELETE",
    path: `${prefix}/{conversation_id}`,
    summary: "Remove a conversation, those below it, and its sandbox if no other conversation is in it",
    auth: true,
    params,
    responses: { ...done, ...missing, ...invalid },
  },
  sendAppMessage: {
    method: "POST",
    path: `${prefix}/{conversation_id}/send-message`,
    summary: "Add a message and let the agent work on it",
    auth: true,
    params,
    body: AppSendMessageRequest,
    takesLargeBody: true,
    tolerateBody: tolerateMessage,
    responses: {
      ...ok("The message is stored.", AppSendMessageResponse),
      ...missing,
      ...refusal(409, "The sandbox is starting or paused."),
      ...refusal(410, "The sandbox does not exist any more."),
      ...refusal(503, "The sandbox has failed."),
      ...invalid,
    },
  },
  queuePendingMessage: {
    method: "POST",
    path: "/api/v1/conversations/{conversation_id}/pending-messages",
    summary: "Send a message to a conversation that may still be starting; it waits until then",
    auth: true,
    params: Type.Object({
      conversation_id: Type.String({
        description: "Of the conversation, or `task-` and the id of its start.",
      }),
    }),
    body: PendingMessageRequest,
    takesLargeBody: true,
    tolerateBody: tolerateMessage,
    responses: {
      201: { description: "The message is stored.", schema: PendingMessageResponse },
      ...missing,
      ...refusal(409, "Its sandbox does not run."),
      ...refusal(410, "Its sandbox is gone."),
      ...refusal(429, "Ten messages are waiting already."),
      ...invalid,
    },
  },
});
