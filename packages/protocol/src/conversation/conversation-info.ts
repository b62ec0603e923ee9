import { Type, type Static } from "typebox";
import { AgentBase } from "../agent/agent.ts";
import { conversationInfoExtensions } from "../extensions/conversation-info-extensions.ts";
import { anyObject, choice, flag, list, mapOf, nullable, object, orNull, ref } from "../schema.ts";
import { ConfirmationPolicy } from "../security/confirmation-policy.ts";
import { SecretRegistry } from "../security/secret-source.ts";
import { SecurityAnalyzer } from "../security/security-analyzer.ts";
import { ConversationStats, MetricsSnapshot } from "./metrics.ts";
import { Workspace } from "./workspace.ts";

/** Execution status of a conversation. */
export const ConversationExecutionStatus = choice(
  ["idle", "running", "paused", "waiting_for_confirmation", "finished", "error", "stuck", "deleting"],
  { $id: "ConversationExecutionStatus" },
);
export type ConversationExecutionStatus = Static<typeof ConversationExecutionStatus>;

/** Order of a list of conversations. */
export const ConversationSortOrder = choice(
  ["CREATED_AT", "UPDATED_AT", "CREATED_AT_DESC", "UPDATED_AT_DESC"],
  { $id: "ConversationSortOrder" },
);
export type ConversationSortOrder = Static<typeof ConversationSortOrder>;

/** A conversation as clients see it; secrets and keys inside are null. */
export const ConversationInfo = object("ConversationInfo", {
  id: Type.String({ format: "uuid" }),
  agent: ref(AgentBase),
  workspace: ref(Workspace),
  persistence_dir: Type.Optional(nullable(Type.String(), { default: "workspace/conversations" })),
  max_iterations: Type.Optional(Type.Integer({ exclusiveMinimum: 0, default: 500 })),
  stuck_detection: flag(true),
  execution_status: Type.Optional(ref(ConversationExecutionStatus, { default: "idle" })),
  confirmation_policy: Type.Optional(ref(ConfirmationPolicy, { default: { kind: "NeverConfirm" } })),
  security_analyzer: orNull(ref(SecurityAnalyzer)),
  activated_knowledge_skills: list(Type.String()),
  blocked_actions: Type.Optional(
    mapOf(Type.String(), {
      impliedDefault: {},
      description: "Reason by id of the action that a hook turned down.",
    }),
  ),
  blocked_messages: Type.Optional(
    mapOf(Type.String(), {
      impliedDefault: {},
      description: "Reason by id of the message that a hook turned down.",
    }),
  ),
  stats: Type.Optional(ref(ConversationStats, { impliedDefault: { usage_to_metrics: {} } })),
  secret_registry: Type.Optional(ref(SecretRegistry, { impliedDefault: {} })),
  agent_state: Type.Optional(anyObject({ impliedDefault: {} })),
  title: orNull(Type.String()),
  metrics: orNull(ref(MetricsSnapshot)),
  created_at: Type.Optional(Type.String({ format: "date-time" })),
  updated_at: Type.Optional(Type.String({ format: "date-time" })),
  ...conversationInfoExtensions,
});
export type ConversationInfo = Static<typeof ConversationInfo>;

/** A page of conversations; `next_page_id` is the id of the first one of the next page. */
export const ConversationPage = object("ConversationPage", {
  items: Type.Array(ref(ConversationInfo)),
  next_page_id: orNull(Type.String()),
});
export type ConversationPage = Static<typeof ConversationPage>;
