import type {
  Agent,
  ClientToolSpec,
  ConfirmationPolicy,
  ConversationInfo,
  LLM,
  LocalWorkspace,
  SecretSource,
  SettingsUsed,
  HookConfig,
  WallRequest,
  WhileRunning,
} from "@convoke/protocol";
import type { StoredAgent } from "../agent/acp-options.ts";
import type { Warning } from "../events/warning.ts";
import type { HookSettings } from "../extensions/hooks/hook-config.ts";
import type { GivenSubAgent } from "../extensions/sub-agents/sub-agent.ts";
import type { AnyRule } from "../security/rules/rule.ts";
import type { AnalyzerConfig } from "../security/analyzers/analyzer.ts";
import { hideUrl, secretMask } from "../settings/secret-fields.ts";
import type { ApprovalPolicy } from "./approval-policy.ts";
import type { Worktree } from "./worktree.ts";

/** A plugin that joined a conversation, at its start or later. */
export type JoinedPlugin = {
  readonly name: string;
  readonly source: string;
  readonly repo_path: string | null;
  /** Of a copy from git, with the digest of its content; null for a directory. */
  readonly commit: string | null;
  readonly digest: string | null;
  /** The directory that its programs know as theirs. */
  readonly root: string;
};

/** The configuration at creation plus all changes: one record, so that no field can revert (W1). */
export type ConversationConfig = {
  /** The `llm` without secrets; those are in {@link ConversationSecrets}. */
  readonly agent: StoredAgent;
  readonly workspace: LocalWorkspace;
  readonly confirmation_policy: ConfirmationPolicy;
  readonly security_analyzer: AnalyzerConfig | null;
  readonly max_iterations: number;
  readonly stuck_detection: boolean;
  /** Whether the first message gives the conversation a title. */
  readonly autotitle?: boolean;
  /** The stored model that writes the title, instead of the agent's. */
  readonly title_llm_profile?: string;
  /** Sub-agents of the request. */
  readonly agent_definitions?: readonly GivenSubAgent[];
  /** Hooks of the sub-agents by name, in addition to those of the conversation. */
  readonly sub_agent_hooks?: Readonly<Record<string, HookSettings>>;
  /** For a sub-agent that names its skills: it has only these, and the permanent notes. */
  readonly skill_names?: readonly string[];
  /** Client tools, which the client executes itself. */
  readonly client_tools?: readonly ClientToolSpec[];
  /** The git worktree of the conversation and its forks. */
  readonly worktree?: Worktree;
  /** Requested settings that are applied differently; reported with the first message. */
  readonly warnings?: readonly Warning[];
  /** Settings of the start request that are stored in another form; only for the reply, without secrets. */
  readonly requested?: Pick<
    ConversationInfo,
    "autotitle" | "agent_definitions" | "agent_launch_additions" | "plugins"
  >;
  /** What a message does while the agent works; `steer` if absent. */
  readonly while_running?: WhileRunning | null;
  /** JSON Schema of the agent's answers; that of a message counts before it. */
  readonly response_schema?: Readonly<Record<string, unknown>>;
  readonly tags: Readonly<Record<string, string>>;
  /** What happens to actions whose approval times out; without it they wait for ever. */
  readonly approval_policy?: ApprovalPolicy | null;
  /** Its own rules; those of the server, the user and the project count as well. */
  readonly allow_rules?: readonly AnyRule[];
  /** Budget in US dollars for all model calls; unlimited if absent. */
  readonly max_budget_per_task?: number | null;
  /** Seconds that one run, and all runs together, may take; unlimited if absent. */
  readonly max_run_seconds?: number | null;
  readonly max_conversation_seconds?: number | null;
  /** The version of the user's settings that were last applied (P34). */
  readonly settings_version?: number;
  /** The stored profiles that its agent and its model were taken from; absent for none. */
  readonly settings_used?: SettingsUsed;
  /** The source of a fork. */
  readonly forked_from?: { readonly conversation_id: string; readonly event_id: string | null };
  /** The parent conversation, and the call that started a sub-agent. */
  readonly parent?: { readonly conversation_id: string; readonly action_id?: string };
  /** True if its creator understands event kinds and tools beyond the contract. */
  readonly knows_newer_kinds?: true;
  /** Depth of nested calls between conversations that use each other as models; absent for none. */
  readonly call_depth?: number;
  /** How many conversations it was started through, by agents that use this server as a tool; absent for none. */
  readonly start_depth?: number;
  /** Its plugins, whose contents are parts of the fields above and below. */
  readonly joined_plugins?: readonly JoinedPlugin[];
  /** Hooks as they were sent. */
  readonly hook_config?: HookConfig | null;
  /** Module names of the creating client's tools. Returned to other clients, never loaded here. */
  readonly tool_module_qualnames?: Readonly<Record<string, string>>;
  /** The sandbox of its tools; the server's own tool host if absent. */
  readonly sandbox_id?: string;
  /**
   * The wall of the request; the server's setting applies to what it does not say. `granted`: hosts that the agent asked for and got,
   * written as in `allow` of a network policy.
   */
  readonly wall?: WallRequest & { readonly granted?: readonly string[] };
  /** For a sub-agent: the conversation behind whose wall it works, and the working folder of that. */
  readonly wall_of?: { readonly conversation_id: string; readonly working_dir: string };
};

/** Adds warnings; no field if there are none. */
export function withWarnings(
  { warnings = [] }: Pick<ConversationConfig, "warnings">,
  more: readonly Warning[],
): Pick<ConversationConfig, "warnings"> {
  const all = [...warnings, ...more];
  return all.length === 0 ? {} : { warnings: all };
}

/** Sealed as one text at rest. */
export type ConversationSecrets = {
  readonly llm: LlmSecrets;
  readonly sources: Readonly<Record<string, SecretSource>>;
  /** Credentials of the condenser's models by their path, e.g. `llm.api_key` or `condensers.0.llm.api_key`. */
  readonly condenser?: CondenserSecrets;
  /** What stands inside of the wall for each secret that is bound to hosts, by name. */
  readonly placeholders?: Readonly<Record<string, string>>;
  /** Values of bound secrets that are looked up, as they were last, by name; in memory only. */
  readonly fetchedValues?: Readonly<Record<string, string>>;
  /** The agent's MCP servers as sent; the configuration has masks. */
  readonly mcp?: Readonly<Record<string, unknown>>;
  /** MCP servers of the request's sub-agents, by name. */
  readonly sub_agents?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Credentials of the sub-agents' condenser models, by name and path. */
  readonly sub_agent_condensers?: Readonly<Record<string, CondenserSecrets>>;
  /**
   * The server's own secrets, masked in every conversation; added when the others are unsealed, never stored with
   * them.
   */
  readonly serverKeys?: readonly string[];
  /** Values in files of the working folder that look like secrets; masked, and never stored. */
  readonly folderValues?: readonly string[];
};

/** The secrets that are sealed with the conversation: without those that are found again when it is loaded. */
export function toStored(secrets: ConversationSecrets): ConversationSecrets {
  const { serverKeys: _, fetchedValues: __, folderValues: ___, ...stored } = secrets;
  return stored;
}

type Headers = Readonly<Record<string, string>>;
type CondenserSecrets = Readonly<Record<string, string | Headers>>;

/** Fields of a model configuration that contain credentials; in the configuration they are null or masked. */
export type LlmSecrets = Readonly<Partial<Record<LlmSecretField, string>>> & {
  readonly extra_headers?: Headers;
  /** Only if the URL contains a secret. */
  readonly base_url?: string;
};

const llmSecretFields = [
  "api_key",
  "aws_access_key_id",
  "aws_secret_access_key",
  "aws_session_token",
] as const satisfies readonly (keyof LLM)[];
export type LlmSecretField = (typeof llmSecretFields)[number];

/** Splits an LLM configuration into a public part and secrets: credentials and header values. */
export function splitLlmSecrets(llm: LLM): { shown: LLM; secrets: LlmSecrets } {
  const shown: LLM = { ...llm };
  const secrets: Partial<Record<LlmSecretField | "base_url", string>> = {};
  const { base_url: address } = llm;
  if (typeof address === "string" && hideUrl(address) !== address) {
    secrets.base_url = address;
    shown.base_url = hideUrl(address);
  }
  for (const field of llmSecretFields) {
    const value = llm[field];
    if (typeof value === "string" && value !== "") secrets[field] = value;
    if (value !== undefined) shown[field] = null;
  }
  const { extra_headers: headers } = llm;
  if (!headers || Object.keys(headers).length === 0) return { shown, secrets };
  shown.extra_headers = maskHeaders(headers);
  return { shown, secrets: { ...secrets, extra_headers: headers } };
}

/** Splits a condenser, which may have models of its own, the same way. */
export function splitCondenserSecrets(condenser: Agent["condenser"]): {
  shown: Agent["condenser"];
  secrets: NonNullable<ConversationSecrets["condenser"]>;
} {
  const secrets: Record<string, string | Headers> = {};
  const isSecret = new Set<string>(llmSecretFields);
  const hide = (value: unknown, path: readonly string[]): unknown => {
    if (Array.isArray(value)) return value.map((item, index) => hide(item, [...path, String(index)]));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, field]: [string, unknown]) => {
        const place = [...path, key];
        if (key === "extra_headers" && typeof field === "object" && field !== null) {
          secrets[place.join(".")] = field as Headers;
          return [key, maskHeaders(field as Headers)];
        }
        if (key === "base_url" && typeof field === "string" && hideUrl(field) !== field) {
          secrets[place.join(".")] = field;
          return [key, hideUrl(field)];
        }
        if (!isSecret.has(key)) return [key, hide(field, place)];
        if (typeof field === "string" && field !== "") secrets[place.join(".")] = field;
        return [key, null];
      }),
    );
  };
  return { shown: hide(condenser, []) as Agent["condenser"], secrets };
}

function maskHeaders(headers: Headers): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value === "" ? "" : secretMask]),
  );
}
