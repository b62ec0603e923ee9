import { Type, type Static } from "typebox";
import { SendMessageRequest } from "../requests/send-message.ts";
import { anyObject, choice, list, mapOf, nullable, object, orAbsent, orNull, ref } from "../schema.ts";
import { ProviderType } from "../settings/provider-token.ts";
import { ConversationTrigger } from "./app-conversation.ts";

/** The kind of agent in a conversation. */
export const AgentType = choice(["default", "plan"], { $id: "AgentType" });
export type AgentType = Static<typeof AgentType>;

/** A plugin with its parameters. */
export const PluginSpec = object("PluginSpec", {
  source: Type.String(),
  ref: orNull(Type.String()),
  repo_path: orNull(Type.String()),
  parameters: orNull(anyObject()),
});
export type PluginSpec = Static<typeof PluginSpec>;

export const TaskType = choice(
  ["MERGE_CONFLICTS", "FAILING_CHECKS", "UNRESOLVED_COMMENTS", "OPEN_ISSUE", "OPEN_PR"],
  { $id: "TaskType" },
);
export type TaskType = Static<typeof TaskType>;

/** A task suggested for a repository. */
export const SuggestedTask = object("SuggestedTask", {
  git_provider: ref(ProviderType),
  task_type: ref(TaskType),
  repo: Type.String(),
  issue_number: Type.Integer(),
  title: Type.String(),
});
export type SuggestedTask = Static<typeof SuggestedTask>;

const request = {
  sandbox_id: orNull(Type.String()),
  sandbox_spec_id: orAbsent(
    Type.String({
      description:
        "What a sandbox of the conversation's own is made from; that of the user's settings, or the first of the list, unless given.",
    }),
  ),
  conversation_id: orNull(Type.String({ format: "uuid" })),
  initial_message: orNull(ref(SendMessageRequest)),
  system_message_suffix: orNull(Type.String()),
  processors: orNull(Type.Array(anyObject())),
  llm_model: orNull(Type.String()),
  agent_profile_id: orNull(Type.String()),
  selected_repository: orNull(Type.String()),
  selected_branch: orNull(Type.String()),
  git_provider: orNull(ref(ProviderType)),
  suggested_task: orNull(ref(SuggestedTask)),
  title: orNull(Type.String({ minLength: 1, maxLength: 200 })),
  trigger: orNull(ref(ConversationTrigger)),
  pr_number: list(Type.Integer()),
  agent_type: Type.Optional(ref(AgentType, { default: "default" })),
  public: orNull(Type.Boolean()),
  observability_metadata: orNull(anyObject()),
  observability_tags: orNull(Type.Array(Type.String())),
  observability_span_name: orNull(Type.String()),
  plugins: orNull(Type.Array(ref(PluginSpec))),
};
const secrets = orNull(mapOf(Type.String({ format: "password", writeOnly: true })));

/** Options for a new conversation in a sandbox; all are optional. */
export const AppConversationStartRequest = object("AppConversationStartRequest-Input", {
  ...request,
  parent_conversation_id: orNull(Type.String({ format: "uuid" })),
  secrets,
});
export type AppConversationStartRequest = Static<typeof AppConversationStartRequest>;

/** The same options as shown later: secrets are null. */
export const AppConversationStartRequestOutput = object("AppConversationStartRequest-Output", {
  ...request,
  parent_conversation_id: orNull(Type.String()),
  secrets,
});
export type AppConversationStartRequestOutput = Static<typeof AppConversationStartRequestOutput>;

/** The steps of a start, in order; `READY` and `ERROR` are final. */
export const AppConversationStartTaskStatus = choice(
  [
    "WORKING",
    "WAITING_FOR_SANDBOX",
    "PREPARING_REPOSITORY",
    "RUNNING_SETUP_SCRIPT",
    "SETTING_UP_GIT_HOOKS",
    "SETTING_UP_SKILLS",
    "STARTING_CONVERSATION",
    "READY",
    "ERROR",
  ],
  { $id: "AppConversationStartTaskStatus" },
);
export type AppConversationStartTaskStatus = Static<typeof AppConversationStartTaskStatus>;

/** The start of a conversation; `app_conversation_id` is present when it is ready, `detail` describes the current step. */
export const AppConversationStartTask = object("AppConversationStartTask", {
  id: Type.Optional(Type.String()),
  created_by_user_id: nullable(Type.String()),
  status: Type.Optional(ref(AppConversationStartTaskStatus, { default: "WORKING" })),
  detail: orNull(Type.String()),
  app_conversation_id: orNull(Type.String()),
  sandbox_id: orNull(Type.String()),
  agent_server_url: orNull(Type.String()),
  request: ref(AppConversationStartRequestOutput),
  created_at: Type.Optional(Type.String({ format: "date-time" })),
  updated_at: Type.Optional(Type.String({ format: "date-time" })),
});
export type AppConversationStartTask = Static<typeof AppConversationStartTask>;

/** A page of start tasks. */
export const AppConversationStartTaskPage = object("AppConversationStartTaskPage", {
  items: Type.Array(ref(AppConversationStartTask)),
  next_page_id: orNull(Type.String()),
});
export type AppConversationStartTaskPage = Static<typeof AppConversationStartTaskPage>;

/** Order of a list of start tasks. */
export const AppConversationStartTaskSortOrder = choice(
  ["CREATED_AT", "CREATED_AT_DESC", "UPDATED_AT", "UPDATED_AT_DESC"],
  { $id: "AppConversationStartTaskSortOrder" },
);
export type AppConversationStartTaskSortOrder = Static<typeof AppConversationStartTaskSortOrder>;
