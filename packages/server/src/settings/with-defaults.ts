import { invalidField } from "../lib/fault.ts";
import { acpAgentOf, toWords } from "./acp-settings.ts";
import { findById } from "./agent-profiles.ts";
import { profileOf } from "./profiles.ts";
import { resolveConnection } from "./provider-connections.ts";
import { resolveAgentProfile } from "./resolve-agent-profile.ts";
import { secretMask } from "./secret-fields.ts";
import { defaultSettings, type JsonObject, type StoredSettings } from "./stored-settings.ts";
import { updateSettings } from "./update-settings.ts";
import { usualToolsOf } from "./usual-tools.ts";
import { withoutUndefined } from "../lib/without-undefined.ts";
import { isObject } from "../lib/json-object.ts";

/** What the server adds to the settings of a user. */
export type ServerDefaults = {
  /** Names of the tools that there are. */
  readonly catalogue: readonly string[];
  /** Who answers actions instead of a person; null: nobody. */
  readonly approvalDefault: JsonObject | null;
};

/**
 * A create request as it came, with what it leaves out taken from its user's settings: the agent with its MCP servers and its
 * condenser, the model's address and key, the limits of steps and money, the asking before actions. A stored key is added only for the stored model at the stored address. An
 * agent that is described by settings or by a profile is put in the place of the description.
 */
export function withDefaults(
  request: unknown,
  settings: StoredSettings,
  { catalogue, approvalDefault }: ServerDefaults,
): unknown {
  if (!isObject(request)) return request;
  const { plain } = settings;
  const agent = chooseAgent(request, settings, catalogue);
  // A description beside an agent is left for the check: one of the two would be dropped.
  const isDescribed = agent !== null && (request["agent"] ?? null) === null;
  const { agent_settings: _, agent_profile_id: __, ...plainRequest } = request;
  return {
    ...(isDescribed ? plainRequest : request),
    ...(agent === null ? {} : { agent }),
    ...given("title_llm_profile", request, titleProfile(request, settings)),
    ...given("max_iterations", request, plain.max_iterations),
    ...given("max_budget_per_task", request, plain.max_budget_per_task),
    ...given("while_running", request, settings.whileRunning),
    ...approvalPolicy(request, settings, approvalDefault),
    ...given(
      "confirmation_policy",
      request,
      plain.confirmation_mode === true ? { kind: "AlwaysConfirm" } : null,
    ),
    ...given(
      "security_analyzer",
      request,
      plain.security_analyzer === "llm" ? { kind: "LLMSecurityAnalyzer" } : null,
    ),
  };
}

/** One that the request names must be there; that of the settings may have been deleted since. */
function titleProfile(request: JsonObject, settings: StoredSettings): string | null {
  const named = request["title_llm_profile"];
  if (typeof named === "string" && profileOf(settings, named) === null)
    throw invalidField(["body", "title_llm_profile"], "There is no model profile with this name.");
  const { title_llm_profile: usual } = settings.plain;
  return usual === null || profileOf(settings, usual) === null ? null : usual;
}

/** The user's reviewer, or the server's, where the user has that model. A policy that names only a reviewer gets the server's deadline. */
function approvalPolicy(
  request: JsonObject,
  settings: StoredSettings,
  approvalDefault: JsonObject | null,
): JsonObject {
  const { approval_policy: policy } = request;
  const { reviewer: ofServer, ...deadline } = approvalDefault ?? {};
  if (!isObject(policy)) {
    const reviewer = settings.reviewer ?? ofServer;
    const isThere = isObject(reviewer) && profileOf(settings, String(reviewer["llm"])) !== null;
    const usual = isThere ? { ...deadline, reviewer } : deadline;
    return given("approval_policy", request, Object.keys(usual).length === 0 ? null : usual);
  }
  requireReviewer(policy, settings, ["body", "approval_policy"]);
  const hasDeadline = policy["timeout_seconds"] !== undefined || policy["on_timeout"] !== undefined;
  return hasDeadline ? {} : { approval_policy: { ...deadline, ...policy } };
}

/** Fails when an approval policy names a model that is not stored. */
export function requireReviewer(policy: object, settings: StoredSettings, loc: readonly string[]): void {
  const { reviewer } = policy as { readonly reviewer?: unknown };
  const name = isObject(reviewer) ? reviewer["llm"] : undefined;
  if (typeof name === "string" && profileOf(settings, name) === null)
    throw invalidField([...loc, "reviewer", "llm"], "There is no model profile with this name.");
}

/** The agent itself wins, then its description, then the profile that is named, then the active one, then the settings. */
function chooseAgent(request: JsonObject, settings: StoredSettings, catalogue: readonly string[]): unknown {
  const { agent = null, agent_settings: described, agent_profile_id: profileId } = request;
  if (agent !== null) return withStoredModel(agent, settings);
  if (isObject(described)) {
    const own = updateSettings(defaultSettings, { agent_settings_diff: described });
    const made = agentOf({ ...own, providerConnections: settings.providerConnections }, catalogue);
    return made === null ? null : withStoredModel(made, settings);
  }
  if (typeof profileId === "string") return agentOf(profileSettings(settings, profileId), catalogue);
  const { activeAgentProfileId: active } = settings;
  const isActive = active !== null && findById(settings, active) !== null;
  return agentOf(isActive ? profileSettings(settings, active) : settings, catalogue);
}

function profileSettings(settings: StoredSettings, id: string): StoredSettings {
  const loc = ["body", "agent_profile_id"];
  const profile = findById(settings, id);
  if (profile === null) throw invalidField(loc, "There is no agent profile with this id.");
  const resolved = resolveAgentProfile(settings, profile);
  if (!resolved.ok) throw invalidField(loc, resolved.errors.join(" "));
  return resolved.settings;
}

/** What gives an agent sub-agents. */
export const taskToolSet = "task_tool_set";

/** An agent made of settings; null when they name no model. */
function agentOf(settings: StoredSettings, catalogue: readonly string[]): JsonObject | null {
  const { llm: stored, agentExtras: extras, plain } = settings;
  if (extras["agent_kind"] === "acp") return acpAgentOf(settings);
  if (typeof stored["model"] !== "string") return null;
  const llm = connected(settings, stored);
  const usual = usualToolsOf(catalogue, llm["model"]);
  const wanted = extras["tools"];
  const tools: unknown[] = Array.isArray(wanted) && wanted.length > 0 ? wanted : usual;
  const context = isObject(extras["agent_context"]) ? extras["agent_context"] : {};
  const disabled = plain.disabled_skills ?? [];
  const agentContext = disabled.length > 0 ? { ...context, disabled_skills: disabled } : context;
  const limit = extras["tool_concurrency_limit"];
  return {
    kind: "Agent",
    llm,
    tools: extras["enable_sub_agents"] === true ? [...tools, { name: taskToolSet }] : tools,
    ...withoutUndefined({
      agent_context: Object.keys(agentContext).length > 0 ? agentContext : undefined,
      tool_concurrency_limit: typeof limit === "number" ? limit : undefined,
      mcp_config:
        Object.keys(settings.mcpServers ?? {}).length > 0 ? { mcpServers: settings.mcpServers } : undefined,
    }),
    ...condenserOf(settings, llm),
  };
}

/**
 * The stored condenser, which writes with the agent's model unless it brings one. Switched off, or never changed, it is left
 * out: then a conversation is shortened at the end of its model's window alone.
 */
function condenserOf({ plain, agentExtras }: StoredSettings, llm: JsonObject): JsonObject {
  const stored = isObject(agentExtras["condenser"]) ? agentExtras["condenser"] : {};
  const { enabled = plain.enable_default_condenser, kind, type: _, ...options } = stored;
  const size = options["max_size"] ?? plain.condenser_max_size;
  if (enabled === false || (size === null && Object.keys(stored).length === 0)) return {};
  if (kind !== undefined && kind !== null && kind !== "LLMSummarizingCondenser") return { condenser: stored };
  return {
    condenser: {
      llm,
      ...withoutNulls(options),
      ...(size === null ? {} : { max_size: size }),
      kind: "LLMSummarizingCondenser",
    },
  };
}

function withStoredModel(agent: unknown, settings: StoredSettings): unknown {
  const { llm: stored } = settings;
  if (!isObject(agent)) return agent;
  if (agent["kind"] === "ACPAgent") return { ...agent, acp_command: toWords(agent["acp_command"]) };
  const given = agent["llm"] ?? {};
  if (!isObject(given)) return agent;
  const llm = withoutMasks(given);
  if (typeof llm["provider_connection_id"] === "string") return { ...agent, llm: connected(settings, llm) };
  if (typeof stored["model"] !== "string" || !isSameRoute(llm, stored)) return agent;
  const known = connected(settings, stored);
  return { ...agent, llm: { ...known, ...withoutNulls(llm), ...knownHeaders(llm, known) } };
}

/** The mask of a credential means the stored one, as in the settings. */
function withoutMasks(llm: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(llm).filter(([, value]) => value !== secretMask));
}

function connected(settings: StoredSettings, llm: JsonObject): JsonObject {
  const resolved = resolveConnection(settings, llm);
  if (resolved !== null) return resolved;
  const loc = ["body", "agent", "llm", "provider_connection_id"];
  throw invalidField(loc, "There is no such provider connection.");
}

/** Headers that were read with their masks, and are sent back, are those of the stored model. */
function knownHeaders(llm: JsonObject, stored: JsonObject): JsonObject {
  const { extra_headers: given } = llm;
  const before = stored["extra_headers"];
  if (!isObject(given) || !isObject(before)) return {};
  const headers = Object.entries(given).map(([name, value]) => [
    name,
    value === secretMask && Object.hasOwn(before, name) ? before[name] : value,
  ]);
  return { extra_headers: Object.fromEntries(headers) as JsonObject };
}

/** True when the request names no other model, no other address and no key of its own. */
function isSameRoute(llm: JsonObject, stored: JsonObject): boolean {
  const isFree = (field: string): boolean => !llm[field] || llm[field] === stored[field];
  return isFree("model") && isFree("base_url") && !llm["api_key"];
}

function withoutNulls(llm: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(llm).filter(([, value]) => value !== null && value !== ""));
}

/** The default of a field that the request does not have; an explicit null is an answer, not an omission. */
function given(field: string, request: JsonObject, value: unknown): JsonObject {
  return value === null || request[field] !== undefined ? {} : { [field]: value };
}
