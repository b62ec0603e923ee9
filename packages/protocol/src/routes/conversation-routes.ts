import { Type } from "typebox";
import {
  ConversationExecutionStatus,
  ConversationInfo,
  ConversationPage,
  ConversationSortOrder,
} from "../conversation/conversation-info.ts";
import { StartConversationRequest } from "../requests/start-conversation.ts";
import { ConversationResponse } from "../requests/stop-conversation.ts";
import { tolerateStartConversation, tolerateUpdateSecrets } from "../requests/tolerate.ts";
import {
  SetConfirmationPolicyRequest,
  SetSecurityAnalyzerRequest,
  UpdateConversationRequest,
  UpdateSecretsRequest,
} from "../requests/update-conversation.ts";
import { nullable, orAbsent, ref } from "../schema.ts";
import { conversationParams, pageLimit } from "./parameters.ts";
import { conflict, done, invalid, noConversation } from "./responses.ts";
import { fetchFailures } from "./installed-routes.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const prefix = "/api/conversations";
const status = orAbsent(ref(ConversationExecutionStatus));

/** A command to one conversation: no body; the reply comes when its effect is durable. */
function command<P extends string>(name: P, summary: string) {
  return {
    method: "POST",
    path: `${prefix}/{conversation_id}/${name}`,
    summary,
    auth: true,
    params: conversationParams,
    responses: { ...done, ...noConversation, ...invalid },
  } as const;
}

/** Conversations: start, lists, changes and deletion. */
export const conversationRoutes = routesOf("Conversations", {
  startConversation: {
    method: "POST",
    path: prefix,
    summary: "Start a conversation, or return the one that already has the given id",
    auth: true,
    body: StartConversationRequest,
    takesLargeBody: true,
    tolerateBody: tolerateStartConversation,
    responses: {
      ...ok("The conversation with this id, which was there before.", ConversationInfo),
      201: { description: "The new conversation.", schema: ConversationInfo },
      ...fetchFailures,
      ...invalid,
    },
  },
  getConversations: {
    method: "GET",
    path: prefix,
    summary: "Read several conversations by id",
    auth: true,
    inScope: true,
    query: Type.Object({ ids: Type.Array(Type.String({ format: "uuid" }), { maxItems: 100 }) }),
    responses: {
      ...ok(
        "The conversations in the order asked for, null for those that do not exist.",
        Type.Array(nullable(ref(ConversationInfo))),
      ),
      ...invalid,
    },
  },
  searchConversations: {
    method: "GET",
    path: `${prefix}/search`,
    summary: "Page through the conversations",
    auth: true,
    inScope: true,
    query: Type.Object({
      page_id: orAbsent(Type.String(), { description: "The next_page_id of the page before." }),
      limit: pageLimit,
      status,
      sort_order: Type.Optional(ref(ConversationSortOrder, { default: "CREATED_AT_DESC" })),
    }),
    responses: { ...ok("A page of conversations.", ConversationPage), ...invalid },
  },
  countConversations: {
    method: "GET",
    path: `${prefix}/count`,
    summary: "Count the conversations, all or those with a status",
    auth: true,
    inScope: true,
    query: Type.Object({ status }),
    responses: { ...ok("The number of conversations.", Type.Integer()), ...invalid },
  },
  getConversation: {
    inShare: true,
    method: "GET",
    path: `${prefix}/{conversation_id}`,
    summary: "Read one conversation",
    auth: true,
    params: conversationParams,
    responses: { ...ok("The conversation.", ConversationInfo), ...noConversation, ...invalid },
  },
  updateConversation: {
    method: "PATCH",
    path: `${prefix}/{conversation_id}`,
    summary: "Change the title or the tags of a conversation",
    auth: true,
    params: conversationParams,
    body: UpdateConversationRequest,
    responses: { ...done, ...noConversation, ...invalid },
  },
  deleteConversation: {
    method: "DELETE",
    path: `${prefix}/{conversation_id}`,
    summary: "Stop a conversation and remove it; its workspace stays",
    auth: true,
    params: conversationParams,
    responses: { ...done, ...noConversation, ...invalid },
  },
  runConversation: {
    ...command("run", "Let the agent work; approves the actions that wait for confirmation"),
    responses: { ...done, ...noConversation, ...conflict, ...invalid },
  },
  pauseConversation: command("pause", "Pause the agent before its next tool call"),
  interruptConversation: command("interrupt", "Pause the agent now, ending the running request and tools"),
  stopConversation: {
    ...command("stop", "End the agent's work now and say what it was doing"),
    params: Type.Object({ conversation_id: Type.String() }),
    responses: {
      ...ok("The status before the stop; an unknown conversation is a stopped one.", ConversationResponse),
      ...invalid,
    },
  },
  updateSecrets: {
    ...command("secrets", "Add or replace secrets"),
    body: UpdateSecretsRequest,
    tolerateBody: tolerateUpdateSecrets,
  },
  setConfirmationPolicy: {
    ...command("confirmation_policy", "Choose when actions wait for confirmation"),
    body: SetConfirmationPolicyRequest,
  },
  setSecurityAnalyzer: {
    ...command("security_analyzer", "Choose who judges the risk of actions"),
    body: SetSecurityAnalyzerRequest,
  },
});
