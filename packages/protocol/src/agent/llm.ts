import { Type, type Static } from "typebox";
import { llmExtensions } from "../extensions/llm-extensions.ts";
import { anyObject, choice, credential, flag, mapOf, nullable, object, orNull } from "../schema.ts";

const seconds = { minimum: 0 };
const atLeastOne = Type.Integer({ minimum: 1 });
const notNegative = Type.Number({ minimum: 0 });

const connection = {
  model: Type.Optional(Type.String({ default: "claude-sonnet-4-20250514" })),
  api_key: orNull(credential()),
  base_url: orNull(Type.String()),
  api_version: orNull(Type.String()),
  aws_access_key_id: orNull(credential()),
  aws_secret_access_key: orNull(credential()),
  aws_region_name: orNull(Type.String()),
  openrouter_site_url: Type.Optional(Type.String({ default: "https://docs.all-hands.dev/" })),
  openrouter_app_name: Type.Optional(Type.String({ default: "OpenHands" })),
  ollama_base_url: orNull(Type.String()),
  extra_headers: orNull(mapOf(Type.String())),
};

const retries = {
  num_retries: Type.Optional(Type.Integer({ minimum: 0, default: 5 })),
  retry_multiplier: Type.Optional(Type.Number({ minimum: 0, default: 8 })),
  retry_min_wait: Type.Optional(Type.Integer({ ...seconds, default: 8, description: "Seconds." })),
  retry_max_wait: Type.Optional(Type.Integer({ ...seconds, default: 64, description: "Seconds." })),
  timeout: Type.Optional(nullable(Type.Integer(seconds), { default: 300, description: "Seconds." })),
};

const limits = {
  max_message_chars: Type.Optional(Type.Integer({ minimum: 1, default: 30000 })),
  max_input_tokens: orNull(atLeastOne),
  max_output_tokens: orNull(atLeastOne),
  input_cost_per_token: orNull(notNegative),
  output_cost_per_token: orNull(notNegative),
};

const sampling = {
  temperature: orNull(notNegative),
  top_p: Type.Optional(nullable(Type.Number({ minimum: 0, maximum: 1 }), { default: 1 })),
  top_k: orNull(notNegative),
  seed: orNull(Type.Integer()),
  reasoning_effort: Type.Optional(
    nullable(choice(["low", "medium", "high", "xhigh", "none"]), { default: "high" }),
  ),
  reasoning_summary: orNull(choice(["auto", "concise", "detailed"])),
  enable_encrypted_reasoning: flag(true),
  extended_thinking_budget: Type.Optional(
    nullable(Type.Integer(), { default: 200000, description: "Tokens." }),
  ),
  prompt_cache_retention: Type.Optional(nullable(Type.String(), { default: "24h" })),
  safety_settings: orNull(Type.Array(mapOf(Type.String()))),
};

const behaviour = {
  model_canonical_name: orNull(
    Type.String({ description: "Name to look the model up by in the catalogue." }),
  ),
  stream: flag(false),
  drop_params: flag(true),
  modify_params: flag(true),
  disable_vision: orNull(Type.Boolean()),
  disable_stop_word: Type.Optional(nullable(Type.Boolean(), { default: false })),
  caching_prompt: flag(true),
  log_completions: flag(false),
  log_completions_folder: Type.Optional(Type.String({ default: "logs/completions" })),
  custom_tokenizer: orNull(Type.String()),
  native_tool_calling: flag(true),
  force_string_serializer: orNull(Type.Boolean()),
  usage_id: Type.Optional(
    Type.String({ default: "default", description: "Name that spending is recorded under." }),
  ),
  litellm_extra_body: Type.Optional(
    anyObject({
      impliedDefault: {},
      description: "Fields added to the request to the provider as they are.",
    }),
  ),
};

/** Configuration of a model: name, address, key and request options. Unknown fields are stored and ignored. */
export const LLM = object("LLM", {
  ...connection,
  ...retries,
  ...limits,
  ...sampling,
  ...behaviour,
  ...llmExtensions,
});
export type LLM = Static<typeof LLM>;
