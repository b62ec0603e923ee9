import type {
  Agent,
  ApprovalPolicy,
  ConfirmationPolicyInput,
  ConversationWorktreeOptions,
  Message,
  SecretSource,
  StartConversationRequest,
} from "@convoke/protocol";
import { isAcpAgent, readAcpAgent } from "./read-acp-agent.ts";
import { toolNames } from "../../../agent/tool-specs.ts";
import { openToolFilter } from "../../../agent/tool-filter.ts";
import { responseSchemaFaults } from "../../../agent/response-schema.ts";
import { promptRefusal, unusedPromptValues } from "../../../agent/prompt/prompt-choice.ts";
import {
  splitCondenserSecrets,
  splitLlmSecrets,
  type ConversationConfig,
  type ConversationSecrets,
} from "../../../engine/conversation-config.ts";
import type { Warning } from "../../../events/warning.ts";
import { readServers } from "../../../extensions/mcp/read-servers.ts";
import { checkModelAddress } from "../../../models/model-address.ts";
import { readRouter } from "../../../models/router-model.ts";
import { secretValues } from "../../../engine/secret-values.ts";
import { parseHooks } from "../../../extensions/hooks/hook-config.ts";
import type { JsonObject } from "../../../lib/json-object.ts";
import { Fault, invalidField, type FieldFault } from "../../../lib/fault.ts";
import { PatternRefused, PatternTooSlow } from "../../../lib/foreign-pattern.ts";
import { normalizeUuid, storedId } from "../../../lib/uuid7.ts";
import { checkHiddenValues, checkSecretSources } from "./check-secret-sources.ts";
import { checkAnalyzer } from "../../../security/analyzers/check-analyzer.ts";
import { hideSecrets } from "../../../settings/secret-fields.ts";
import {
  hiddenDefinition,
  readAgentDefinitions,
  subAgentSecrets,
} from "../extensions/read-agent-definitions.ts";
import { readClientTools } from "../extensions/read-client-tools.ts";
import { withoutMasks } from "../settings/without-masks.ts";
import { readResponseSchema } from "../events/read-response-schema.ts";
import { toUserMessage } from "../events/user-message.ts";
import { withoutUndefined } from "../../../lib/without-undefined.ts";

/** A parsed create request. */
export type Start = {
  readonly conversationId: string | null;
  readonly title: string | null;
  readonly config: ConversationConfig;
  readonly secrets: ConversationSecrets;
  readonly initialMessage: Message | null;
  /** JSON Schema of the answer to the initial message. */
  readonly initialSchema: JsonObject | undefined;
  /** The parent conversation; the caller of this function checks that it exists. */
  readonly parentId: string | null;
  /** Null: it works in the folder itself. */
  readonly worktree: ConversationWorktreeOptions | null;
};

/**
 * Reads a create request. Unsupported values are refused by name instead of being silently dropped: a guard hook or a
 * tool server that never runs would be worse than an error (P55).
 */
export function readStartRequest(given: StartConversationRequest, isNewer: boolean): Start {
  const { body, warnings: maskWarnings } = withoutMasks(readAcpAgent(given));
  const isOther = isAcpAgent(body.agent);
  refuseUnsupported(body);
  checkPolicy(body.confirmation_policy, ["body", "confirmation_policy"]);
  checkPrompt(body.agent);
  checkModelAddress(body.agent.llm, ["body", "agent", "llm"]);
  const llm = splitLlmSecrets(body.agent.llm);
  const condenser = splitCondenserSecrets(body.agent.condenser ?? null);
  const mcp = body.agent.mcp_config ?? {};
  checkMcpServers(mcp);
  const context = body.agent.agent_context ?? null;
  // Secrets of the agent's context are secrets like those of the conversation, which win.
  const contextSources = toSources(context?.secrets ?? {});
  checkSecretSources(contextSources, ["body", "agent", "agent_context", "secrets"]);
  checkSecretSources(body.secrets ?? {}, ["body", "secrets"], contextSources);
  const secrets = withoutUndefined({
    llm: llm.secrets,
    sources: { ...contextSources, ...body.secrets },
    condenser: condenser.secrets,
    mcp: Object.keys(mcp).length === 0 ? undefined : mcp,
    ...subAgentSecrets(body.agent_definitions ?? []),
  });
  checkHiddenValues(secretValues(secrets), ["body", "agent"]);
  const agent = withoutUndefined({
    ...body.agent,
    kind: "Agent",
    llm: llm.shown,
    condenser: condenser.shown,
    mcp_config: body.agent.mcp_config === undefined ? undefined : hideSecrets(mcp),
    agent_context: context === null ? null : { ...context, secrets: null },
    ...hiddenCritic(body.agent.critic ?? null),
    response_schema: undefined,
  }) as Agent;
  const definitions = readAgentDefinitions(body.agent_definitions ?? []);
  const warnings = [...maskWarnings, ...(definitions.warnings ?? []), ...agentWarnings(body.agent)];
  return {
    conversationId: readConversationId(body.conversation_id ?? null),
    parentId: readParentId(body),
    title: typeof body.title === "string" ? readTitle(body.title) : null,
    config: withoutUndefined({
      agent,
      workspace: { ...body.workspace, kind: "LocalWorkspace" as const },
      confirmation_policy: body.confirmation_policy ?? { kind: "NeverConfirm" as const },
      security_analyzer: checkAnalyzer(body.security_analyzer, ["body", "security_analyzer"]),
      max_iterations: body.max_iterations ?? 500,
      stuck_detection: body.stuck_detection ?? true,
      autotitle: body.autotitle === true && typeof body.title !== "string" ? true : undefined,
      title_llm_profile: typeof body.title_llm_profile === "string" ? body.title_llm_profile : undefined,
      ...definitions,
      warnings: warnings.length === 0 ? undefined : warnings,
      ...readRequested(body),
      ...readClientTools(body.client_tools ?? [], toolNames(agent)),
      response_schema:
        readResponseSchema(body.response_schema, ["body"]) ??
        readResponseSchema(body.agent.response_schema, ["body", "agent"]),
      tags: body.tags ?? {},
      // Its tool calls are of a newer kind.
      knows_newer_kinds: isNewer || isOther ? true : undefined,
      max_budget_per_task: body.max_budget_per_task,
      max_run_seconds: body.max_run_seconds ?? undefined,
      max_conversation_seconds: body.max_conversation_seconds ?? undefined,
      approval_policy: checkApprovalPolicy(body.approval_policy, ["body", "approval_policy"]),
      while_running: body.while_running ?? undefined,
      wall: body.wall ?? undefined,
      ...readHooks(body.hook_config ?? null),
      ...readToolModules(body),
    }),
    secrets,
    worktree: readWorktree(body),
    initialMessage: body.initial_message
      ? toUserMessage(body.initial_message, ["body", "initial_message"])
      : null,
    initialSchema: readResponseSchema(body.initial_message?.response_schema, ["body", "initial_message"]),
  };
}

function readWorktree({ worktree, worktree_options: given }: StartConversationRequest): Start["worktree"] {
  if (worktree !== true) return null;
  if (given?.base === "ref" && !given.ref)
    throw invalidField(["body", "worktree_options", "ref"], "Name the commit that the branch begins at.");
  return given ?? {};
}

/** Fields that are returned as sent (P55). */
function readRequested({
  autotitle,
  agent_definitions: definitions = [],
  agent_launch_additions: additions = null,
  plugins,
}: StartConversationRequest): Pick<ConversationConfig, "requested"> {
  const hidden = definitions.map(hiddenDefinition);
  const requested = withoutUndefined({
    autotitle,
    agent_definitions: hidden.length === 0 ? undefined : hidden,
    plugins: (plugins ?? []).length === 0 ? undefined : plugins!,
    agent_launch_additions: additions ?? undefined,
  });
  return Object.keys(requested).length === 0 ? {} : { requested };
}

/**
 * Clients newer than the contract send fields that it does not have, the SDK in every request. Clients that send none
 * of them get only the contract's kinds.
 */
export function namesNewerFields(raw: unknown): boolean {
  if (typeof raw !== "object" || raw === null) return false;
  return Object.keys(raw).some((field) => !contractFields.has(field));
}

const contractFields = new Set([
  "agent",
  "workspace",
  "conversation_id",
  "confirmation_policy",
  "initial_message",
  "max_iterations",
  "stuck_detection",
  "secrets",
  "tool_module_qualnames",
  "plugins",
  "hook_config",
]);

/** Refuses hooks that could not run as intended: a guard that never runs would be worse than an error. */
function readHooks(given: StartConversationRequest["hook_config"]): Pick<ConversationConfig, "hook_config"> {
  if (given === null || given === undefined) return {};
  const parsed = parseHooks(given, "request");
  if (!parsed.ok) throw invalidField(["body", "hook_config", ...parsed.loc], parsed.reason);
  return { hook_config: given };
}

/**
 * The modules with the client's tool definitions. They are never loaded here: an unknown tool is refused by its name.
 * They are returned to clients that attach later, which may need the definitions to read the events.
 */
function readToolModules(body: StartConversationRequest): Pick<ConversationConfig, "tool_module_qualnames"> {
  const names = new Set((body.agent.tools ?? []).map(({ name }) => name));
  const used = Object.entries(body.tool_module_qualnames ?? {}).filter(([name]) => names.has(name));
  return used.length === 0 ? {} : { tool_module_qualnames: Object.fromEntries(used) };
}

function checkPrompt(agent: StartConversationRequest["agent"]): void {
  const refusal = promptRefusal(agent);
  if (refusal !== null) throw invalidField(["body", "agent", ...refusal.field.split(".")], refusal.reason);
}

/** Secrets as a conversation has them; a text is the value of one. */
export function toSources(
  secrets: Readonly<Record<string, string | SecretSource>>,
): Record<string, SecretSource> {
  return Object.fromEntries(
    Object.entries(secrets).map(([name, secret]) => [
      name,
      typeof secret === "string" ? { kind: "StaticSecret" as const, value: secret } : secret,
    ]),
  );
}

/** Surrounding space is no part of a title, and space alone is none. */
export function readTitle(title: string): string {
  const trimmed = title.trim();
  if (trimmed === "")
    throw invalidField(["body", "title"], "Send a title with at least one visible character.");
  return trimmed;
}

function readConversationId(given: string | null): string | null {
  if (given === null) return null;
  const id = normalizeUuid(given);
  if (id === null) throw invalidField(["body", "conversation_id"], "This is not a UUID.", "uuid_parsing");
  return id;
}

function readParentId({ parent_conversation_id: given }: StartConversationRequest): string | null {
  return given ? storedId(given) : null;
}

/** The model is never called, so its key is not stored. */
function hiddenCritic(critic: StartConversationRequest["agent"]["critic"]): object {
  return critic?.kind === "APIBasedCritic" ? { critic: { ...critic, api_key: null } } : {};
}

/** Fields that an agent works well without (P55). */
function agentWarnings(agent: StartConversationRequest["agent"]): Warning[] {
  const values = unusedPromptValues(agent);
  return [
    ...(agent.critic?.kind === "APIBasedCritic" ? [criticUnavailable] : []),
    ...(values.length === 0
      ? []
      : [
          {
            code: "prompt_values_unused",
            detail: `The built-in prompt uses no such values: ${values.join(", ")}. It is sent without them.`,
            values,
          },
        ]),
  ];
}

const criticUnavailable: Warning = {
  code: "critic_unavailable",
  detail: "This server asks no critic over HTTP. The agent's work is not judged, and not sent back by one.",
};

/** "At least unknown" orders nothing. */
export function checkPolicy(policy: ConfirmationPolicyInput | undefined, loc: readonly string[]): void {
  if (policy?.kind !== "ConfirmRisky" || policy.threshold !== "UNKNOWN") return;
  throw invalidField(
    [...loc, "threshold"],
    "A threshold is LOW, MEDIUM or HIGH; see confirm_unknown for UNKNOWN.",
  );
}

/** A deadline without an answer, or an answer without a deadline, would never count. */
export function checkApprovalPolicy<Policy extends ApprovalPolicy | null | undefined>(
  policy: Policy,
  loc: readonly string[],
): Policy {
  const { timeout_seconds: seconds, on_timeout: answer, reviewer } = policy ?? {};
  if (seconds === undefined && answer !== undefined)
    throw invalidField(
      [...loc, "timeout_seconds"],
      "Say after how many seconds on_timeout counts.",
      "missing",
    );
  if (seconds !== undefined && answer === undefined)
    throw invalidField([...loc, "on_timeout"], "Say accept or reject.", "missing");
  if (policy && seconds === undefined && reviewer === undefined)
    throw invalidField(
      [...loc, "timeout_seconds"],
      "Give a deadline or a reviewer, or null for neither.",
      "missing",
    );
  return policy;
}

function unsupported(loc: readonly string[], what: string): FieldFault {
  const msg = `${what} not supported by this version of the server. Leave this field out.`;
  return { loc: ["body", ...loc], msg, type: "not_supported" };
}

function refuseUnsupported(body: StartConversationRequest): void {
  const fields: FieldFault[] = [];
  const refuse = (loc: string[], what: string): void => {
    fields.push(unsupported(loc, what));
  };
  // Both are given, and it is unknown which one was meant.
  for (const field of ["agent_settings", "agent_profile_id"] as const) {
    const msg = `Send either agent or ${field}, not both.`;
    if (body[field]) fields.push({ loc: ["body", field], msg, type: "value_error" });
  }
  if (body.conversation_runtime === "docker") refuse(["conversation_runtime"], "Containers of their own are");
  if (fields.length > 0)
    throw new Fault("caller", "not_supported", "The request asks for something unsupported.", fields);
  checkFilter(body.agent);
  checkResponseSchemas(body.agent);
  readRouter(body.agent.llm, ["body", "agent", "llm", "router"]);
}

/** Refuses servers that could never be reached; a server that does not answer is no reason to refuse. */
function checkMcpServers(config: Readonly<Record<string, unknown>>): void {
  const loc = ["body", "agent", "mcp_config"];
  const { faults } = readServers(config, loc);
  if (faults.length > 0) throw new Fault("caller", "validation", "The MCP servers are not valid.", faults);
}

function checkResponseSchemas(agent: StartConversationRequest["agent"]): void {
  const faults = responseSchemaFaults(agent as Agent).map(({ index, reason }): FieldFault => {
    return {
      loc: ["body", "agent", "tools", index, "params", "response_schema"],
      msg: reason,
      type: "value_error",
    };
  });
  if (faults.length > 0) throw new Fault("caller", "validation", "A response schema cannot be used.", faults);
}

/** Also tests the expression on the named tools, so that one with endless backtracking is refused here. */
function checkFilter(agent: StartConversationRequest["agent"]): void {
  try {
    const filter = openToolFilter({ filter_tools_regex: agent.filter_tools_regex ?? null });
    for (const { name } of agent.tools ?? []) filter?.test(name);
  } catch (error) {
    if (!(error instanceof PatternRefused || error instanceof PatternTooSlow)) throw error;
    throw invalidField(["body", "agent", "filter_tools_regex"], error.message);
  }
}
