import type { AppConversation, AppConversationStartTask, ConversationTrigger } from "@convoke/protocol";
import type { AppConversationView } from "../../app-conversations/app-conversations.ts";
import type { StartTask } from "../../app-conversations/start-task-store.ts";
import { toConversationInfo } from "../../engine/state/conversation-info.ts";
import { formatInstant } from "../../lib/instant.ts";

/** The address and the key of a sandbox, for views. */
export type SandboxAddresses = {
  /** Without a slash at the end. */
  readonly url: (sandboxId: string) => string;
  readonly key: (sandboxId: string) => string | null;
};

/** A conversation in the newer clients' form. */
export function toAppConversation(
  { row, described, sandbox, subConversationIds }: AppConversationView,
  addresses: SandboxAddresses,
): AppConversation {
  const { facts } = row;
  const { agent, tags } = described.config;
  const isRunning = sandbox?.status === "RUNNING";
  return {
    id: toHex(row.id),
    created_by_user_id: row.ownerId,
    sandbox_id: row.sandboxId,
    selected_repository: facts.selectedRepository,
    selected_branch: facts.selectedBranch,
    git_provider: facts.gitProvider,
    title: described.title,
    trigger: facts.trigger as ConversationTrigger | null,
    pr_number: [...facts.prNumbers],
    llm_model: agent.llm.model ?? null,
    agent_kind: agent.acp === undefined ? "openhands" : "acp",
    metrics: toConversationInfo(described).metrics ?? null,
    parent_conversation_id: row.parentId === null ? null : toHex(row.parentId),
    sub_conversation_ids: subConversationIds.map(toHex),
    public: facts.isPublic,
    tags: { ...tags },
    created_at: formatInstant(row.createdAtMs * 1000),
    updated_at: formatInstant(described.updatedAtMicros),
    sandbox_status: sandbox?.status ?? "MISSING",
    execution_status: isRunning ? described.state.status : null,
    conversation_url: isRunning ? `${addresses.url(row.sandboxId)}/api/conversations/${toHex(row.id)}` : null,
    session_api_key: isRunning ? addresses.key(row.sandboxId) : null,
    acp_server: agent.acp?.acp_server ?? null,
    launched_agent_profile: null,
  };
}

/** A start in the newer clients' form; it has an address once the sandbox answers. */
export function toStartTask(task: StartTask, addresses: SandboxAddresses): AppConversationStartTask {
  const isReady = task.status === "READY";
  const hasAddress = isReady || task.status === "STARTING_CONVERSATION";
  return {
    id: toHex(task.id),
    created_by_user_id: task.ownerId,
    status: task.status,
    detail: task.detail,
    app_conversation_id: isReady ? toHex(task.conversationId) : null,
    sandbox_id: task.sandboxId,
    agent_server_url: hasAddress ? addresses.url(task.sandboxId) : null,
    request: task.request,
    created_at: formatInstant(task.createdAtMs * 1000),
    updated_at: formatInstant(task.updatedAtMs * 1000),
  };
}

export function toHex(uuid: string): string {
  return uuid.replaceAll("-", "");
}
