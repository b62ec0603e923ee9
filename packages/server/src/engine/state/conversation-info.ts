import type {
  ConversationInfo,
  SecurityAnalyzer,
  MetricsSnapshot,
  SecretRegistry,
  SecretSource,
  WallInfo,
} from "@convoke/protocol";
import { shownAgent } from "../../agent/acp-options.ts";
import { isBound } from "../../egress/check-secret-binding.ts";
import { formatInstant } from "../../lib/instant.ts";
import { nextUuid7 } from "../../lib/uuid7.ts";
import type { ConversationConfig, ConversationSecrets } from "../conversation-config.ts";
import type { Worktree } from "../worktree.ts";
import type { ConversationMarks } from "../../journal/journal.ts";
import { hideUrl } from "../../settings/secret-fields.ts";
import type { ConversationState } from "./conversation-state.ts";
import { describePendingCall, pendingCalls } from "./pending-calls.ts";
import { withoutUndefined } from "../../lib/without-undefined.ts";

export type ConversationInfoSource = {
  readonly id: string;
  readonly title: string | null;
  readonly createdAtMicros: number;
  readonly updatedAtMicros: number;
  readonly persistenceDir: string;
  readonly marks: ConversationMarks;
  readonly config: ConversationConfig;
  readonly secrets: ConversationSecrets;
  readonly state: Readonly<ConversationState>;
  /** Absent for a conversation whose tools run in a sandbox. */
  readonly wall?: WallInfo | undefined;
};

/** A conversation as REST returns it; secrets are null. */
export function toConversationInfo(described: ConversationInfoSource): ConversationInfo {
  const { config, state } = described;
  return withoutUndefined({
    id: described.id,
    ...sharedFields(config, described.secrets, state),
    workspace: config.workspace,
    persistence_dir: described.persistenceDir,
    title: described.title,
    tool_module_qualnames: config.tool_module_qualnames && { ...config.tool_module_qualnames },
    ...config.requested,
    max_budget_per_task: config.max_budget_per_task ?? undefined,
    max_run_seconds: config.max_run_seconds ?? undefined,
    max_conversation_seconds: config.max_conversation_seconds ?? undefined,
    approval_policy: config.approval_policy ?? undefined,
    while_running: config.while_running ?? undefined,
    wall: described.wall,
    client_tools: config.client_tools && [...config.client_tools],
    worktree: config.worktree && shownWorktree(config.worktree),
    forked_from_conversation_id: config.forked_from?.conversation_id,
    forked_from_event_id: config.forked_from?.event_id,
    parent_conversation_id: config.parent?.conversation_id,
    ...modelsOf(state),
    metrics: combinedMetrics(state),
    created_at: formatInstant(described.createdAtMicros),
    updated_at: formatInstant(described.updatedAtMicros),
  });
}

/** What another agent has told of its models. */
function modelsOf({ acp: { session } }: Readonly<ConversationState>) {
  if (session === null) return {};
  return {
    current_model_id: session.current_model_id,
    available_models: [...session.available_models],
    supports_runtime_model_switch: session.supports_runtime_model_switch,
  };
}

function shownWorktree({ repository, root, branch, base }: Worktree): Record<string, unknown> {
  return { repository, root, branch, base };
}

/** The snapshot frame that a new subscriber gets first; broadcast only. */
export function fullStateFrame(
  config: ConversationConfig,
  secrets: ConversationSecrets,
  state: Readonly<ConversationState>,
  id: string,
  nowMs: number,
): string {
  const value = {
    id,
    ...sharedFields(config, secrets, state),
    workspace: config.workspace,
    head_is_empty: false,
    /** Grows with the log, over restarts too: a frame with a lower one is older (P36). */
    version: state.lastSeq,
  };
  return JSON.stringify({
    id: nextUuid7(null, nowMs),
    timestamp: formatInstant(nowMs * 1000),
    source: "environment",
    key: "full_state",
    value,
    kind: "ConversationStateUpdateEvent",
  });
}

/** Names, kinds and descriptions of secrets; values are null. */
export function secretRegistry(secrets: ConversationSecrets): SecretRegistry {
  const entries = Object.entries(secrets.sources).map(([name, source]) => [
    name,
    source.kind === "StaticSecret"
      ? { description: source.description ?? null, value: null, kind: source.kind, ...shownBinding(source) }
      : {
          description: source.description ?? null,
          url: hideUrl(source.url),
          headers: {},
          kind: source.kind,
          ...shownBinding(source),
        },
  ]);
  return { secret_sources: Object.fromEntries(entries) as NonNullable<SecretRegistry["secret_sources"]> };
}

function shownBinding(source: SecretSource): Pick<SecretSource, "hosts" | "as" | "shape"> {
  const { hosts, as, shape } = source;
  return isBound(source)
    ? withoutUndefined({ hosts: hosts ?? undefined, as: as ?? undefined, shape: shape ?? undefined })
    : {};
}

function sharedFields(
  config: ConversationConfig,
  secrets: ConversationSecrets,
  state: Readonly<ConversationState>,
) {
  const pending = pendingCalls(state);
  return withoutUndefined({
    // Newer clients require the field; this server has no subscription logins.
    agent: shownAgent({ ...config.agent, llm: { is_subscription: false, ...config.agent.llm } }),
    max_iterations: config.max_iterations,
    stuck_detection: config.stuck_detection,
    execution_status: state.status,
    confirmation_policy: config.confirmation_policy,
    security_analyzer: config.security_analyzer as SecurityAnalyzer | null,
    activated_knowledge_skills: [],
    blocked_actions: {},
    blocked_messages: {},
    stats: { usage_to_metrics: state.stats } as ConversationInfo["stats"] & object,
    secret_registry: secretRegistry(secrets),
    agent_state: {},
    tags: { ...config.tags },
    last_user_message_id: state.lastUserMessageId,
    invoked_skills: state.invokedSkills.length === 0 ? undefined : [...state.invokedSkills],
    pending_tool_calls: pending.length === 0 ? undefined : pending.map(describePendingCall),
    leaf_event_id: state.navigations.length === 0 ? undefined : state.leafId,
    hook_config: config.hook_config ?? undefined,
    settings_used: config.settings_used,
    response_schema: config.response_schema && { ...config.response_schema },
    structured_output: state.structuredOutput === null ? undefined : { ...state.structuredOutput },
  });
}

/** Totals over all model calls; null before the first. */
export function combinedMetrics(state: Readonly<ConversationState>): MetricsSnapshot | null {
  const all = Object.values(state.stats) as MetricsSnapshot[];
  const [first] = all;
  if (first === undefined) return null;
  const total = { ...first };
  for (const other of all.slice(1)) {
    total.accumulated_cost = (total.accumulated_cost ?? 0) + (other.accumulated_cost ?? 0);
    const sum = total.accumulated_token_usage;
    const more = other.accumulated_token_usage;
    if (!sum || !more) continue;
    total.accumulated_token_usage = {
      ...sum,
      prompt_tokens: (sum.prompt_tokens ?? 0) + (more.prompt_tokens ?? 0),
      completion_tokens: (sum.completion_tokens ?? 0) + (more.completion_tokens ?? 0),
      cache_read_tokens: (sum.cache_read_tokens ?? 0) + (more.cache_read_tokens ?? 0),
      cache_write_tokens: (sum.cache_write_tokens ?? 0) + (more.cache_write_tokens ?? 0),
      reasoning_tokens: (sum.reasoning_tokens ?? 0) + (more.reasoning_tokens ?? 0),
    };
  }
  return total;
}
