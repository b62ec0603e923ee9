import { Type } from "typebox";
import {
  ConversationHold,
  ConversationHolds,
  RetentionPlan,
  RetentionPolicies,
  RetentionPolicy,
  SetHoldRequest,
  TrashedConversation,
  TrashEmptied,
  TrashPage,
} from "../conversation/retention.ts";
import { ErrorReply } from "../requests/replies.ts";
import { orAbsent } from "../schema.ts";
import { conversationParams, pageLimit } from "./parameters.ts";
import { conflict, done, invalid, noConversation } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const notInTrash = {
  404: { description: "It is not in the caller's trash.", schema: ErrorReply },
} as const;
/** A key of one conversation takes nothing away, and lifts no hold. */
const one = { auth: true, inScope: false, params: conversationParams } as const;
const inTrash = "/api/trash/{conversation_id}";
const hold = "/api/conversations/{conversation_id}/hold";

/** Our own: the trash, holds, and what goes by itself. */
export const retentionRoutes = routesOf("Retention", {
  getRetention: {
    method: "GET",
    path: "/api/retention",
    summary: "The caller's retention policy, and that of the server",
    auth: true,
    responses: ok("The policies.", RetentionPolicies),
  },
  setRetention: {
    method: "PUT",
    path: "/api/retention",
    summary: "Replace the caller's retention policy; without rules nothing goes by itself",
    auth: true,
    body: RetentionPolicy,
    responses: { ...ok("The policies.", RetentionPolicies), ...invalid },
  },
  planRetention: {
    method: "GET",
    path: "/api/retention/plan",
    summary: "Which of the caller's conversations would go now, by which rule, and why; changes nothing",
    auth: true,
    responses: ok("What would go.", RetentionPlan),
  },
  previewRetention: {
    method: "POST",
    path: "/api/retention/plan",
    summary: "Which of the caller's conversations would go by a policy that is not stored; changes nothing",
    auth: true,
    body: RetentionPolicy,
    responses: { ...ok("What would go.", RetentionPlan), ...invalid },
  },
  listTrash: {
    method: "GET",
    path: "/api/trash",
    summary: "Page through the caller's trash, the newest first",
    auth: true,
    query: Type.Object({ limit: pageLimit, page_id: orAbsent(Type.String({ format: "uuid" })) }),
    responses: { ...ok("A page of the trash.", TrashPage), ...invalid },
  },
  trashConversation: {
    method: "POST",
    path: "/api/conversations/{conversation_id}/trash",
    summary: "Put a conversation into the trash",
    ...one,
    responses: { ...ok("It is there.", TrashedConversation), ...noConversation, ...conflict, ...invalid },
  },
  restoreFromTrash: {
    method: "POST",
    path: `${inTrash}/restore`,
    summary: "Put a conversation back where it was",
    ...one,
    responses: { ...done, ...notInTrash, ...conflict, ...invalid },
  },
  deleteFromTrash: {
    method: "DELETE",
    path: inTrash,
    summary: "Delete a conversation in the trash for ever",
    ...one,
    responses: { ...done, ...notInTrash, ...conflict, ...invalid },
  },
  emptyTrash: {
    method: "POST",
    path: "/api/trash/empty",
    summary: "Delete everything in the caller's trash for ever, except what is on hold",
    auth: true,
    responses: ok("What was deleted.", TrashEmptied),
  },
  listHolds: {
    method: "GET",
    path: "/api/holds",
    summary: "The caller's conversations that are on hold",
    auth: true,
    responses: ok("The holds.", ConversationHolds),
  },
  setHold: {
    method: "PUT",
    path: hold,
    summary: "Hold a conversation: nothing deletes it until the hold is lifted",
    ...one,
    body: SetHoldRequest,
    isBodyOptional: true,
    responses: { ...ok("The hold.", ConversationHold), ...noConversation, ...invalid },
  },
  liftHold: {
    method: "DELETE",
    path: hold,
    summary: "Lift the hold of a conversation",
    ...one,
    responses: { ...done, ...noConversation, ...invalid },
  },
});
