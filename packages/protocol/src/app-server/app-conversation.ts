import { Type, type Static } from "typebox";
import { ConversationExecutionStatus } from "../conversation/conversation-info.ts";
import { MetricsSnapshot } from "../conversation/metrics.ts";
import { choice, list, mapOf, nullable, object, orNull, ref } from "../schema.ts";
import { ProviderType } from "../settings/provider-token.ts";
import { SandboxStatus } from "./sandbox.ts";

/** The origin of a conversation. */
export const ConversationTrigger = choice(
  [
    "resolver",
    "gui",
    "suggested_task",
    "openhands_api",
    "slack",
    "microagent_management",
    "jira",
    "jira_dc",
    "linear",
    "bitbucket",
    "automation",
  ],
  { $id: "ConversationTrigger" },
);
export type ConversationTrigger = Static<typeof ConversationTrigger>;

/** The stored agent that a conversation was started from. */
export const LaunchedAgentProfile = object("LaunchedAgentProfile", {
  agent_profile_id: Type.String({ format: "uuid" }),
  revision: Type.Integer({ minimum: 0 }),
});
export type LaunchedAgentProfile = Static<typeof LaunchedAgentProfile>;

/** A conversation in a sandbox with the current status of both. Ids of conversations are 32 hexadecimal digits. */
export const AppConversation = object("AppConversation", {
  id: Type.Optional(Type.String()),
  created_by_user_id: nullable(Type.String()),
  sandbox_id: Type.String(),
  selected_repository: orNull(Type.String()),
  selected_branch: orNull(Type.String()),
  git_provider: orNull(ref(ProviderType)),
  title: orNull(Type.String()),
  trigger: orNull(ref(ConversationTrigger)),
  pr_number: list(Type.Integer()),
  llm_model: orNull(Type.String()),
  agent_kind: Type.Optional(Type.String({ default: "openhands" })),
  metrics: orNull(ref(MetricsSnapshot)),
  parent_conversation_id: orNull(Type.String()),
  sub_conversation_ids: list(Type.String()),
  public: orNull(Type.Boolean()),
  tags: Type.Optional(mapOf(Type.String(), { impliedDefault: {} })),
  created_at: Type.Optional(Type.String({ format: "date-time" })),
  updated_at: Type.Optional(Type.String({ format: "date-time" })),
  sandbox_status: Type.Optional(ref(SandboxStatus, { default: "MISSING" })),
  execution_status: orNull(ref(ConversationExecutionStatus)),
  conversation_url: orNull(Type.String()),
  session_api_key: orNull(Type.String()),
  acp_server: nullable(Type.String(), { readOnly: true }),
  launched_agent_profile: nullable(ref(LaunchedAgentProfile), { readOnly: true }),
});
export type AppConversation = Static<typeof AppConversation>;

/** A page of conversations. */
export const AppConversationPage = object("AppConversationPage", {
  items: Type.Array(ref(AppConversation)),
  next_page_id: orNull(Type.String()),
});
export type AppConversationPage = Static<typeof AppConversationPage>;

/** Order of a list of conversations. */
export const AppConversationSortOrder = choice(
  ["CREATED_AT", "CREATED_AT_DESC", "UPDATED_AT", "UPDATED_AT_DESC", "TITLE", "TITLE_DESC"],
  { $id: "AppConversationSortOrder" },
);
export type AppConversationSortOrder = Static<typeof AppConversationSortOrder>;

/** Fields to change; an absent field stays, null clears it. */
export const AppConversationUpdateRequest = object("AppConversationUpdateRequest", {
  title: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 200 }))),
  public: Type.Optional(nullable(Type.Boolean())),
  selected_repository: Type.Optional(nullable(Type.String())),
  selected_branch: Type.Optional(nullable(Type.String())),
  git_provider: Type.Optional(nullable(ref(ProviderType))),
});
export type AppConversationUpdateRequest = Static<typeof AppConversationUpdateRequest>;
