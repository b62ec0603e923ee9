import { Type, type Static } from "typebox";
import { anyObject, choice, mapOf, nullable, object, ref } from "../schema.ts";
import { ProviderType } from "./provider-token.ts";

/** Features that a web client shows or hides. */
export const WebClientFeatureFlags = object("WebClientFeatureFlags", {
  enable_billing: Type.Boolean(),
  hide_llm_settings: Type.Boolean(),
  enable_jira: Type.Boolean(),
  enable_jira_dc: Type.Boolean(),
  enable_linear: Type.Boolean(),
  hide_users_page: Type.Boolean(),
  hide_billing_page: Type.Boolean(),
  hide_integrations_page: Type.Boolean(),
  hide_personal_workspaces: Type.Boolean(),
  allow_user_llm_configuration: Type.Boolean(),
  enable_acp: Type.Boolean(),
  deployment_mode: nullable(choice(["cloud", "self_hosted"])),
  enable_onboarding: Type.Boolean(),
  enable_automations: Type.Boolean(),
  enable_agent_canvas_banner: Type.Boolean(),
});
export type WebClientFeatureFlags = Static<typeof WebClientFeatureFlags>;

const text = nullable(Type.String());

/** What a web client needs before login. */
export const WebClientConfig = object("WebClientConfig", {
  app_mode: choice(["oss", "saas"]),
  posthog_client_key: text,
  feature_flags: ref(WebClientFeatureFlags),
  providers_configured: Type.Array(ref(ProviderType)),
  maintenance_start_time: nullable(Type.String({ format: "date-time" })),
  auth_url: text,
  recaptcha_site_key: text,
  faulty_models: Type.Array(Type.String()),
  error_message: text,
  updated_at: Type.String({ format: "date-time" }),
  github_app_slug: text,
  gitlab_enabled: Type.Boolean(),
  provider_default_hosts: mapOf(Type.String()),
  slack_enabled: Type.Boolean(),
  email_enabled: Type.Boolean(),
  email_change_enabled: Type.Boolean(),
  acp_providers: Type.Array(anyObject()),
  kind: Type.Literal("WebClientConfig"),
});
export type WebClientConfig = Static<typeof WebClientConfig>;
