import type { AgentDefinition } from "@convoke/protocol";
import {
  splitCondenserSecrets,
  type ConversationConfig,
  type ConversationSecrets,
} from "../../../engine/conversation-config.ts";
import type { Warning } from "../../../events/warning.ts";
import { readServers } from "../../../extensions/mcp/read-servers.ts";
import { parseHooks } from "../../../extensions/hooks/hook-config.ts";
import { ownCondenser } from "../../../extensions/sub-agents/own-condenser.ts";
import type { GivenSubAgent } from "../../../extensions/sub-agents/sub-agent.ts";
import { hideSecrets } from "../../../settings/secret-fields.ts";
import { Fault, type FieldFault } from "../../../lib/fault.ts";
import { withoutUndefined } from "../../../lib/without-undefined.ts";

/** A sub-agent works less well without these, which a warning reports. */
const leftOut = ["profile_store_dir"] as const;

/** Reads the sub-agents of a create request. Unsupported fields are refused by name (P55). */
export function readAgentDefinitions(
  given: readonly AgentDefinition[],
): Pick<ConversationConfig, "agent_definitions" | "sub_agent_hooks" | "warnings"> {
  if (given.length === 0) return {};
  const faults = given.flatMap((definition, index) =>
    faultsOf(definition, given.slice(0, index), ["body", "agent_definitions", index]),
  );
  if (faults.length > 0) {
    throw new Fault("caller", "validation", "The sub-agents of the request cannot be used.", faults);
  }
  const warnings = given.flatMap(warningsOf);
  const hooks = given.flatMap(({ name, hooks: own }) => {
    const parsed = isEmpty(own) ? null : parseHooks(own, "request");
    return parsed?.ok === true ? [[name.trim(), parsed.settings] as const] : [];
  });
  return withoutUndefined({
    agent_definitions: given.map(toSubAgent),
    sub_agent_hooks: hooks.length === 0 ? undefined : Object.fromEntries(hooks),
    warnings: warnings.length === 0 ? undefined : warnings,
  });
}

/** The MCP servers of each sub-agent, as sent, and the model settings of their condensers. */
export function subAgentSecrets(
  given: readonly AgentDefinition[],
): Pick<ConversationSecrets, "sub_agents" | "sub_agent_condensers"> {
  const servers = given.flatMap(({ name, mcp_config: mcp }) =>
    isEmpty(mcp) ? [] : [[name.trim(), mcp!] as const],
  );
  const condensers = given.flatMap(({ name, condenser }) => {
    const { secrets } = splitCondenserSecrets(ownCondenser(condenser) as never);
    return isEmpty(secrets) ? [] : [[name.trim(), secrets] as const];
  });
  return withoutUndefined({
    sub_agents: servers.length === 0 ? undefined : Object.fromEntries(servers),
    sub_agent_condensers: condensers.length === 0 ? undefined : Object.fromEntries(condensers),
  });
}

/** As sent, without secrets. */
export function hiddenDefinition(definition: AgentDefinition): AgentDefinition {
  const { mcp_config: mcp, condenser } = definition;
  return {
    ...definition,
    ...withoutUndefined({
      mcp_config: mcp ? hideSecrets(mcp) : undefined,
      condenser: condenser ? (splitCondenserSecrets(condenser as never).shown as never) : undefined,
    }),
  };
}

function warningsOf(definition: AgentDefinition): Warning[] {
  const fields = leftOut.filter((field) => !isEmpty(definition[field]));
  if (fields.length === 0) return [];
  const detail = `The sub-agent ${definition.name.trim()} works without its own ${fields.join(" and ")}.`;
  return [{ code: "sub_agent_fields_left_out", detail, fields }];
}

function isEmpty(value: object | string | null | undefined): boolean {
  return Object.keys(value ?? {}).length === 0;
}

function toSubAgent(definition: AgentDefinition): GivenSubAgent {
  const { worktree } = definition;
  return withoutUndefined({
    worktree: typeof worktree === "boolean" ? worktree : undefined,
    name: definition.name.trim(),
    description: definition.description ?? "",
    model: definition.model ?? "inherit",
    color: definition.color ?? null,
    tools: definition.tools ?? [],
    skills: namesOf(definition.skills),
    condenser: splitCondenserSecrets(ownCondenser(definition.condenser) as never).shown as never,
    system_prompt: definition.system_prompt ?? "",
    when_to_use_examples: definition.when_to_use_examples ?? [],
    permission_mode: definition.permission_mode ?? null,
    max_iteration_per_run: definition.max_iteration_per_run ?? null,
    max_budget_per_run: definition.max_budget_per_run ?? null,
    metadata: definition.metadata ?? {},
    level: "programmatic",
    source: definition.source ?? null,
    is_builtin: false,
  });
}

function namesOf(names: readonly string[] = []): string[] {
  return [...new Set(names.map((name) => name.trim()).filter((name) => name !== ""))];
}

function faultsOf(
  definition: AgentDefinition,
  before: readonly AgentDefinition[],
  loc: readonly (string | number)[],
): FieldFault[] {
  const faults: FieldFault[] = [];
  const refuse = (field: string, msg: string): void => {
    faults.push({ loc: [...loc, field], msg, type: "value_error" });
  };
  const name = definition.name.trim();
  if (name === "") refuse("name", "Give the sub-agent a name.");
  else if (before.some((other) => other.name.trim() === name))
    refuse("name", `Another sub-agent of the request is called ${JSON.stringify(name)} already.`);
  if (!isEmpty(definition.mcp_config))
    faults.push(...readServers(definition.mcp_config, [...loc, "mcp_config"]).faults);
  const hooks = isEmpty(definition.hooks) ? null : parseHooks(definition.hooks, "request");
  if (hooks?.ok === false)
    faults.push({ loc: [...loc, "hooks", ...hooks.loc], msg: hooks.reason, type: "value_error" });
  // Otherwise a model of the same name in the user's profiles would answer, at the user's cost.
  if (!isEmpty(definition.profile_store_dir) && (definition.model ?? "inherit") !== "inherit") {
    const where =
      "Model profiles are those of your settings. Store the model there and leave this field out.";
    refuse("profile_store_dir", where);
  }
  return faults;
}
