import type {
  Agent,
  ClientToolSpec,
  ConfirmationPolicy,
  ConversationInfo,
  LLM,
  LocalWorkspace,
  SecretSource,
  HookConfig,
} from "@convoke/protocol";
import type { Warning } from "../events/warning.ts";
import type { HookSettings } from "../extensions/hooks/hook-config.ts";
import type { GivenSubAgent } from "../extensions/sub-agents/sub-agent.ts";
import type { AllowRule } from "../security/allow-rules.ts";
import type { AnalyzerConfig } from "../security/analyzers/analyzer.ts";
import { hideUrl, secretMask } from "../settings/secret-fields.ts";
import type { ApprovalPolicy } from "./approval-policy.ts";
import type { Worktree } from "./worktree.ts";

/** What a conversation was created with and what was changed since: one record, so that nothing can fall back (W1). */
export type ConversationConfig = {
  /** Its `llm` has no secrets; those are in {@link ConversationSecrets}. */
  readonly agent: Agent;
  readonly workspace: LocalWorkspace;
  readonly confirmation_policy: ConfirmationPolicy;
  readonly security_analyzer: AnalyzerConfig | null;
  readonly max_iterations: number;
  readonly stuck_detection: boolean;
  /** Whether the first message gives the conversation a title. */
  readonly autotitle?: boolean;
  /** The stored model that writes the title, instead of the agent's. */
  readonly title_llm_profile?: string;
  /** Sub-agents that came with the request. */
  readonly agent_definitions?: readonly GivenSubAgent[];
  /** Hooks of theirs, beside those of the conversation, by the name of each. */
  readonly sub_agent_hooks?: Readonly<Record<string, HookSettings>>;
  /** Of a sub-agent that names its skills: it has these alone, beside the notes that always hold. */
  readonly skill_names?: readonly string[];
  /** Tools that the client brought and carries out itself. */
  readonly client_tools?: readonly ClientToolSpec[];
  /** The git worktree that it works in, with its forks. */
  readonly worktree?: Worktree;
  /** Requested settings that are applied in another way; reported with the first message. */
  readonly warnings?: readonly Warning[];
  /** Settings of the start request that are stored in another form; only for the reply, without secrets. */
  readonly requested?: Pick<
    ConversationInfo,
    "autotitle" | "agent_definitions" | "agent_launch_additions" | "plugins"
  >;
  readonly tags: Readonly<Record<string, string>>;
  /** What happens to actions that nobody answers in time; they wait for ever without it. */
  readonly approval_policy?: ApprovalPolicy | null;
  /** Calls that need no confirmation. */
  readonly allow_rules?: readonly AllowRule[];
  /** US dollars that all model calls of the conversation may cost; no limit when absent. */
  readonly max_budget_per_task?: number | null;
  /** The version of its user's settings that it was made with or last took over (P34). */
  readonly settings_version?: number;
  /** Where a fork comes from. */
  readonly forked_from?: { readonly conversation_id: string; readonly event_id: string | null };
  /** The conversation that this one was begun from, and the call that gave the work to a sub-agent where there was one. */
  readonly parent?: { readonly conversation_id: string; readonly action_id?: string };
  /** Its creator understands kinds of events and tools beyond the contract. */
  readonly knows_newer_kinds?: true;
  /** How many conversations asked each other until this one was asked, as a model of the last of them; none when absent. */
  readonly call_depth?: number;
  /** Hooks in the form that they were sent in. */
  readonly hook_config?: HookConfig | null;
  /** Where the creating client has the definitions of its tools. Returned to other clients, never loaded here. */
  readonly tool_module_qualnames?: Readonly<Record<string, string>>;
  /** The sandbox that its tools run in; on the server's own tool host when there is none. */
  readonly sandbox_id?: string;
};

/** The warnings of a configuration with more; none is no field. */
export function withWarnings(
  { warnings = [] }: Pick<ConversationConfig, "warnings">,
  more: readonly Warning[],
): Pick<ConversationConfig, "warnings"> {
  const all = [...warnings, ...more];
  return all.length === 0 ? {} : { warnings: all };
}

/** Sealed at rest as one text. */
export type ConversationSecrets = {
  readonly llm: LlmSecrets;
  readonly sources: Readonly<Record<string, SecretSource>>;
  /** Credentials of the condenser's models by their path, e.g. `llm.api_key` or `condensers.0.llm.api_key`. */
  readonly condenser?: CondenserSecrets;
  /** The agent's MCP servers as they were sent; the configuration has them with masks. */
  readonly mcp?: Readonly<Record<string, unknown>>;
  /** Those of the sub-agents that came with the request, by the name of each. */
  readonly sub_agents?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Credentials of the models of their condensers, by the name of each and then by path. */
  readonly sub_agent_condensers?: Readonly<Record<string, CondenserSecrets>>;
  /** The server's own, which are masked in every conversation; put in when the others are opened, and never stored with them. */
  readonly serverKeys?: readonly string[];
};

type Headers = Readonly<Record<string, string>>;
type CondenserSecrets = Readonly<Record<string, string | Headers>>;

/** What a model's configuration has that proves who asks; in the configuration itself it is null or a mask. */
export type LlmSecrets = Readonly<Partial<Record<LlmSecretField, string>>> & {
  readonly extra_headers?: Headers;
  /** Only where the address has something to hide. */
  readonly base_url?: string;
};

const llmSecretFields = [
  "api_key",
  "aws_access_key_id",
  "aws_secret_access_key",
  "aws_session_token",
] as const satisfies readonly (keyof LLM)[];
export type LlmSecretField = (typeof llmSecretFields)[number];

/** Splits an LLM configuration into what may be shown and what must be sealed: credentials, and the values of its headers. */
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

/** Splits a condenser, which may bring models of its own, in the same way. */
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
