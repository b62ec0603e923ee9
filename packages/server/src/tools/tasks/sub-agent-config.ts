import type { Agent, Condenser, ConfirmationPolicy, LLM, SubAgentInfo } from "@convoke/protocol";
import { completeCondenser } from "../../extensions/sub-agents/own-condenser.ts";
import {
  hasHooks,
  mergeHooks,
  parseHooks,
  toHookConfig,
  type HookSettings,
} from "../../extensions/hooks/hook-config.ts";
import type { ConversationConfig } from "../../engine/conversation-config.ts";

/**
 * What a sub-agent works with: the place, the policies and the limits of the conversation that it works for, with its own
 * tools, words, model and closer limits where its description has some. It cannot have sub-agents or the other's MCP servers.
 */
export function subAgentConfig(
  parent: ConversationConfig,
  agent: SubAgentInfo,
  llm: LLM | null,
): ConversationConfig {
  const condenser = completeCondenser(agent.condenser, llm ?? parent.agent.llm);
  const skillNames = agent.skills ?? [];
  return {
    ...pick(parent, shared),
    ...hooksOf(parent, agent),
    ...(skillNames.length === 0 ? {} : { skill_names: skillNames }),
    agent: {
      ...parent.agent,
      llm: llm ?? parent.agent.llm,
      ...(condenser === null ? {} : { condenser: condenser as Condenser }),
      tools: (agent.tools ?? []).map((name) => ({ name, params: {} })),
      filter_tools_regex: null,
      include_default_tools: ["FinishTool", "ThinkTool"],
      mcp_config: {},
      critic: null,
      agent_context: contextOf(parent.agent, agent),
    },
    confirmation_policy: stricter(parent.confirmation_policy, policyOf(agent)),
    max_iterations: Math.min(agent.max_iteration_per_run ?? Infinity, parent.max_iterations),
    autotitle: false,
    tags: {},
  };
}

const shared = [
  "workspace",
  "sandbox_id",
  "wall",
  "security_analyzer",
  "stuck_detection",
  "approval_policy",
  "allow_rules",
  "hook_config",
  "joined_plugins",
  "knows_newer_kinds",
  "call_depth",
  "start_depth",
] as const satisfies readonly (keyof ConversationConfig)[];

function pick<From extends object, Key extends keyof From>(
  from: From,
  keys: readonly Key[],
): Pick<From, Key> {
  return Object.fromEntries(keys.flatMap((key) => (key in from ? [[key, from[key]]] : []))) as Pick<
    From,
    Key
  >;
}

/** A guard of the conversation guards its sub-agents too, before their own. */
function hooksOf(parent: ConversationConfig, agent: SubAgentInfo): Pick<ConversationConfig, "hook_config"> {
  const own = agent.level === "programmatic" ? parent.sub_agent_hooks?.[agent.name] : hooksOfFile(agent);
  if (own === undefined) return {};
  const shared = parseHooks(parent.hook_config ?? {}, "stored");
  return { hook_config: toHookConfig(shared.ok ? mergeHooks(shared.settings, own) : own) };
}

function hooksOfFile({ hooks }: SubAgentInfo): HookSettings | undefined {
  const parsed = parseHooks(hooks ?? {}, "stored");
  return parsed.ok && hasHooks(parsed.settings) ? parsed.settings : undefined;
}

function contextOf(
  { agent_context: context = null }: Agent,
  agent: SubAgentInfo,
): NonNullable<Agent["agent_context"]> {
  const words = [context?.system_message_suffix, agent.system_prompt].filter(
    (text) => typeof text === "string" && text !== "",
  );
  const base = { skills: [], load_user_skills: false, load_public_skills: false, ...context };
  return {
    ...base,
    system_message_suffix: words.length === 0 ? null : words.join("\n\n"),
    // Meant for what a person writes; the orders are an agent's.
    user_message_suffix: null,
  };
}

/** Descriptions lie in the workspace, where an agent writes: they can ask for more confirmation than the user wants, never for less. */
function stricter(parent: ConfirmationPolicy, own: ConfirmationPolicy | null): ConfirmationPolicy {
  const rank = ({ kind }: ConfirmationPolicy): number => strictness.indexOf(kind);
  return own !== null && rank(own) > rank(parent) ? own : parent;
}

const strictness: readonly ConfirmationPolicy["kind"][] = ["NeverConfirm", "ConfirmRisky", "AlwaysConfirm"];

function policyOf({ permission_mode: mode }: SubAgentInfo): ConfirmationPolicy | null {
  switch (mode) {
    case "always_confirm":
      return { kind: "AlwaysConfirm" };
    case "never_confirm":
      return { kind: "NeverConfirm" };
    case "confirm_risky":
      return { kind: "ConfirmRisky", threshold: "HIGH", confirm_unknown: true };
    default:
      return null;
  }
}
