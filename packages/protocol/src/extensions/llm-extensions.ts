import { Type } from "typebox";
import { anyObject, choice, credential, orAbsent } from "../schema.ts";

/** LLM fields of newer clients; optional, and in replies only if they were sent. */
export const llmExtensions = {
  api_mode: Type.Optional(choice(["auto", "chat", "responses"])),
  auth_type: Type.Optional(choice(["api_key", "subscription"])),
  is_subscription: Type.Optional(Type.Boolean()),
  provider_connection_id: orAbsent(Type.String()),
  aws_session_token: orAbsent(credential()),
  aws_profile_name: orAbsent(Type.String()),
  aws_role_name: orAbsent(Type.String()),
  aws_session_name: orAbsent(Type.String()),
  aws_bedrock_runtime_endpoint: orAbsent(Type.String()),
  inline_image_urls: orAbsent(Type.Boolean()),
  fallback_strategy: orAbsent(
    anyObject({
      description: "`fallback_llms`: names of stored models, asked in order when this one fails.",
    }),
  ),
  router: orAbsent(
    anyObject({
      description: "Chooses one of several stored models for each call: `kind` and `llms_for_routing`.",
    }),
  ),
  capability_overrides: orAbsent(
    anyObject({ description: "What the catalogue does not know about the model, e.g. `vision`." }),
  ),
};
