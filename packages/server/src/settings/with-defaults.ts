import type { JsonObject, StoredSettings } from "./stored-settings.ts";

/** Tools of an agent that is made from settings, as far as the server has them. */
const usualTools = ["terminal", "file_editor", "task_tracker"];

/**
 * A create request as it came, with what it leaves out taken from its user's settings: the agent, the model's address and key,
 * the limit of steps, the asking before actions. A stored key is added only for the stored model at the stored address.
 */
export function withDefaults(
  request: unknown,
  settings: StoredSettings,
  catalogue: readonly string[],
): unknown {
  if (!isObject(request)) return request;
  const { plain } = settings;
  const agent = withModel(request["agent"] ?? null, settings.llm, catalogue);
  return {
    ...request,
    ...(agent === null ? {} : { agent }),
    ...given("max_iterations", request, plain.max_iterations),
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

function withModel(agent: unknown, stored: JsonObject, catalogue: readonly string[]): unknown {
  if (typeof stored["model"] !== "string") return agent;
  if (agent === null) {
    const tools = usualTools.filter((name) => catalogue.includes(name)).map((name) => ({ name }));
    return { kind: "Agent", llm: stored, tools };
  }
  if (!isObject(agent)) return agent;
  const llm = agent["llm"] ?? {};
  if (!isObject(llm) || !isSameRoute(llm, stored)) return agent;
  return { ...agent, llm: { ...stored, ...withoutNulls(llm) } };
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

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
