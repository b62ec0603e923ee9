import type { SecretBindingFields } from "@convoke/protocol";
import type { Caller } from "../../../security/caller.ts";
import type { CompletedBody } from "../../../http/read-request.ts";
import { promptNames } from "../../../agent/prompt/prompt-choice.ts";
import { parseHooks } from "../../../extensions/hooks/hook-config.ts";
import { invalidField } from "../../../lib/fault.ts";
import { isBound } from "../../../egress/check-secret-binding.ts";
import { withoutUndefined } from "../../../lib/without-undefined.ts";
import type { SecretStore, SecretWithValue } from "../../../settings/secret-store.ts";
import { chooseProfiles } from "../../../settings/chosen-profiles.ts";
import { withDefaults } from "../../../settings/with-defaults.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { isObject, type JsonObject } from "../../../lib/json-object.ts";

export type CompleteStartDeps = Pick<
  FaceDeps,
  "settings" | "profileHistory" | "sealedValues" | "approvalDefault"
> & {
  readonly secrets: Pick<SecretStore, "read">;
  /** Names of the tools that there are. */
  readonly catalogue: readonly string[];
};

/**
 * Completes a create request before it is checked: opens sealed values, takes missing fields from the user's settings,
 * and resolves references to stored secrets of the user.
 */
export async function completeStart(
  body: unknown,
  { userId }: Caller,
  { settings, profileHistory, secrets, sealedValues, catalogue, approvalDefault }: CompleteStartDeps,
): Promise<CompletedBody> {
  const opened = sealedValues.openIn(userId, body, ["body"]);
  const versioned = await settings.load(userId);
  const { settings: stored, used } = await chooseProfiles(profileHistory, userId, versioned, opened);
  const read = { settingsVersion: versioned.version, ...withoutUndefined({ settingsUsed: used }) };
  const complete = withOwnParts(withDefaults(opened, stored, { catalogue, approvalDefault }), opened);
  const request = withPlanning(withLaunchAdditions(withPlainHooks(complete)));
  if (!isObject(request) || !isObject(request["secrets"])) return { body: request, ...read };
  const entries = Object.entries(request["secrets"]).map(async ([name, source]) => {
    const own = ownSecretOf(source);
    if (own === null) return [name, source];
    const stored = await secrets.read(userId, own);
    if (stored === null) throw invalidField(["body", "secrets", name, "url"], `There is no secret ${own}.`);
    const { description = null, ...given } = source as SecretBindingFields & { description?: unknown };
    return [name, { kind: "StaticSecret", description, ...withHosts(stored, given) }];
  });
  const withSecrets = { ...request, secrets: Object.fromEntries(await Promise.all(entries)) as unknown };
  return { body: withSecrets, ...read };
}

/** Values of the settings are copied, because the check fills in defaults and the settings are shared. */
function withOwnParts(complete: unknown, opened: unknown): unknown {
  if (!isObject(complete) || !isObject(opened)) return complete;
  const parts = Object.entries(complete);
  return Object.fromEntries(
    parts.map(([name, part]) => [name, part === opened[name] ? part : structuredClone(part)]),
  );
}

/** Normalises the forms of hooks; invalid ones are left for the check. */
function withPlainHooks(request: unknown): unknown {
  if (!isObject(request) || !isObject(request["hook_config"])) return request;
  const { hook_config: given } = request;
  const parsed = parseHooks(given, "request");
  if (parsed.ok) return { ...request, hook_config: parsed.settings };
  // The contract's form has other names, so its check would refuse the name instead of the invalid value.
  if (Object.keys(given).some((name) => name === "hooks" || /^[A-Z]/.test(name)))
    throw invalidField(["body", "hook_config", ...parsed.loc], parsed.reason, "extra_forbidden");
  return { ...request, hook_config: withCommands(given) };
}

/** The contract requires a command in every hook; hook types without one are checked for their own mistakes. */
function withCommands(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(withCommands);
  if (!isObject(given)) return given;
  const { type } = given;
  if (type === "prompt" || type === "agent") return { command: "", ...given };
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, withCommands(value)]));
}

/** Adds instructions for the agent of this conversation only; invalid values are left for the check. */
function withLaunchAdditions(request: unknown): unknown {
  if (!isObject(request) || !isObject(request["agent"]) || !isObject(request["agent_launch_additions"]))
    return request;
  const added = request["agent_launch_additions"]["system_message_suffix_append"];
  if (typeof added !== "string" || added === "") return request;
  const { agent } = request;
  return { ...request, agent: { ...agent, agent_context: withInstructions(agent["agent_context"], added) } };
}

/** An agent's context with further instructions, which come after its own. */
export function withInstructions(context: unknown, added: string): JsonObject {
  const own = isObject(context) ? context : {};
  const before = own["system_message_suffix"];
  const isSet = typeof before === "string" && before !== "";
  return { ...own, system_message_suffix: isSet ? `${before}\n\n${added}` : added };
}

/** Plan mode works with the settings' agent too, without the client knowing it. */
function withPlanning(request: unknown): unknown {
  if (!isObject(request) || request["agent_type"] !== "plan" || !isObject(request["agent"])) return request;
  return { ...request, agent: { ...request["agent"], system_prompt_filename: promptNames.planning } };
}

/** The hosts of a stored secret hold wherever it is used; of one without, those that the request names. */
function withHosts(stored: SecretWithValue, { hosts, as, shape }: SecretBindingFields): SecretWithValue {
  return isBound(stored) ? stored : { ...stored, ...withoutUndefined({ hosts, as, shape }) };
}

/** Clients refer to a stored secret by its path on this server. */
function ownSecretOf(source: unknown): string | null {
  const url = isObject(source) && source["kind"] === "LookupSecret" ? source["url"] : null;
  const match = typeof url === "string" ? /^\/api\/settings\/secrets\/([A-Za-z_]\w{0,127})$/.exec(url) : null;
  return match?.[1] ?? null;
}
