import { LLM } from "../agent/llm.ts";

/**
 * Facts about fields of request bodies that the schemas do not contain, for {@link findUnusedFields}: by component name, then by field
 * name.
 */
export type Notes<T> = Readonly<Record<string, Readonly<Record<string, T>>>>;

/** For a non-empty value: whether it has no effect. */
type AsksNothing = (value: unknown) => boolean;
const only =
  (...values: unknown[]): AsksNothing =>
  (value) =>
    values.includes(value);
const defaultOf = (name: keyof typeof LLM.properties): AsksNothing =>
  only((LLM.properties[name] as { readonly default?: unknown }).default);

const modelWithoutEffect: Readonly<Record<string, AsksNothing>> = {
  stream_idle_timeout: only(300),
  auth_type: only("api_key"),
  aws_profile_name: only(),
  aws_role_name: only(),
  aws_session_name: only(),
  custom_tokenizer: only(),
  disable_stop_word: only(false),
  force_string_serializer: only(false),
  inline_image_urls: only(false),
  log_completions_folder: defaultOf("log_completions_folder"),
  max_message_chars: defaultOf("max_message_chars"),
  modify_params: defaultOf("modify_params"),
};

/** Known fields without effect here, and their values that official clients send in every request. */
export const withoutEffect: Notes<AsksNothing> = {
  StartConversationRequest: {
    secrets_encrypted: only(false),
    observability_span_name: only("conversation"),
    // Official tools; one that this server lacks is reported as missing.
    tool_module_qualnames: (value) => Object.values(value as object).every(isOfficialModule),
  },
  LLM: modelWithoutEffect,
  LLMChange: modelWithoutEffect,
  "LLMSummarizingCondenser-Input": { minimum_progress: only(0.1) },
  SubAgentCondenser: { minimum_progress: only(0.1) },
  "AgentContext-Input": { load_memory: only(false), marketplace_path: only("marketplaces/default.json") },
  AgentVerification: { critic_enabled: only(false), enable_iterative_refinement: only(false) },
};

/** Fields of other versions of this API that look like a typo of ours, and are not. */
export const otherNames: Readonly<Record<string, readonly string[]>> = { SkillsRequest: ["org_configs"] };

function isOfficialModule(name: unknown): boolean {
  return typeof name === "string" && name.startsWith("openhands.");
}
