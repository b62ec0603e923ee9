import type { WebClientConfig, appServerRoutes } from "@convoke/protocol";
import type { Handlers } from "../../http/mount.ts";
import { withoutUndefined } from "../../lib/without-undefined.ts";
import { Fault } from "../../lib/fault.ts";
import { formatInstant } from "../../lib/instant.ts";
import { agentSettingsForm, conversationSettingsForm } from "../../settings/settings-forms.ts";
import { toUserInfo, toV1Settings } from "../../settings/settings-views.ts";
import { secretMissing } from "../agent-server/settings/settings-routes.ts";
import type { FaceDeps } from "../face-deps.ts";
import { removeTokens, storeSettings, storeTokens } from "../legacy/settings-routes.ts";

/** Settings and secrets as newer clients have them. */
export function userSettingsHandlers({ settings, secrets, clock }: FaceDeps) {
  const webClient = webClientConfig(formatInstant(clock.nowMs() * 1000));
  return {
    loadUserSettings: async ({ caller }) => ({
      json: toV1Settings((await settings.load(caller.userId)).settings),
    }),

    storeUserSettings: storeSettings(settings),

    getAgentSettingsForm: () => ({ json: agentSettingsForm() }),

    getConversationSettingsForm: () => ({ json: conversationSettingsForm() }),

    searchSecrets: async ({ caller, query }) => {
      const { name__contains: text, page_id: pageId, limit } = query;
      const page = await secrets.search(caller.userId, {
        limit: limit ?? 100,
        nameContains: text ?? undefined,
        pageId: pageId ?? undefined,
      });
      return { json: { items: page.items, next_page_id: page.nextPageId } };
    },

    putSecret: async ({ caller, body }) => {
      const { name, description = null, value, hosts, as, shape } = body;
      const secret = { name, description, value, ...withoutUndefined({ hosts, as, shape }) };
      await secrets.store(caller.userId, secret, "replace");
      return { status: 201, json: { message: "Secret stored" } };
    },

    renameSecret: async ({ caller, params, body }) => {
      const { name, description, hosts, as, shape } = body;
      const change = { name, description, ...withoutUndefined({ hosts, as, shape }) };
      const outcome = await secrets.update(caller.userId, params.secret_id, change);
      if (outcome === "missing") throw secretMissing(params.secret_id);
      if (outcome === "taken")
        throw new Fault("conflict", "secret_exists", `There is a secret ${name} already.`);
      return { json: { message: "Secret updated" } };
    },

    removeSecret: async ({ caller, params }) => {
      const isRemoved = await secrets.remove(caller.userId, params.secret_id);
      if (!isRemoved) throw secretMissing(params.secret_id);
      return { json: { message: "Secret deleted" } };
    },

    storeGitProviders: async ({ caller, body }) => {
      await storeTokens(settings, caller.userId, body);
      return { json: { message: "Git providers stored" } };
    },

    removeGitProviders: async ({ caller }) => {
      await removeTokens(settings, caller.userId);
      return { json: { message: "Git providers removed" } };
    },

    getCurrentUser: async ({ caller }) => ({
      json: toUserInfo((await settings.load(caller.userId)).settings, caller.userId),
    }),

    getWebClientConfig: () => ({ json: webClient }),
  } satisfies Partial<Handlers<typeof appServerRoutes>>;
}

/** No analytics, no billing, no integrations: what this server does not have is off. */
function webClientConfig(updatedAt: string): WebClientConfig {
  return {
    app_mode: "oss",
    posthog_client_key: null,
    feature_flags: {
      enable_billing: false,
      hide_llm_settings: false,
      enable_jira: false,
      enable_jira_dc: false,
      enable_linear: false,
      hide_users_page: true,
      hide_billing_page: true,
      hide_integrations_page: true,
      hide_personal_workspaces: true,
      allow_user_llm_configuration: true,
      enable_acp: false,
      deployment_mode: "self_hosted",
      enable_onboarding: false,
      enable_automations: false,
      enable_agent_canvas_banner: false,
    },
    providers_configured: [],
    maintenance_start_time: null,
    auth_url: null,
    recaptcha_site_key: null,
    faulty_models: [],
    error_message: null,
    updated_at: updatedAt,
    github_app_slug: null,
    gitlab_enabled: false,
    provider_default_hosts: {},
    slack_enabled: false,
    email_enabled: false,
    email_change_enabled: false,
    acp_providers: [],
    kind: "WebClientConfig",
  };
}
