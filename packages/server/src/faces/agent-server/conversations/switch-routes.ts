import type { LLM, SettingsUsed, UsedProfile, controlRoutes } from "@convoke/protocol";
import { type ConversationConfig, splitLlmSecrets } from "../../../engine/conversation-config.ts";
import type { Conversation } from "../../../engine/conversation.ts";
import { refuseForAcp } from "../../../engine/refusals.ts";
import { unmasked } from "../../../engine/masked-values.ts";
import { openAsked } from "../../../http/asked-conversation.ts";
import type { Handlers } from "../../../http/mount.ts";
import { checkModelAddress } from "../../../models/model-address.ts";
import type { FaceDeps } from "../../face-deps.ts";

const success = { json: { success: true } };

/** The model of a conversation is another one from the next call on. */
export function switchHandlers({ directory, settings, profileHistory }: FaceDeps) {
  async function switchTo(
    { configuration }: Conversation,
    given: LLM,
    change: Pick<ConversationConfig, "settings_used" | "settings_version">,
  ): Promise<void> {
    refuseForAcp(configuration.config, "A model of this server (use switch_acp_model)");
    const { value: llm, warnings } = unmasked(given, ["llm"]);
    const { shown, secrets } = splitLlmSecrets(llm);
    const agent = { ...configuration.config.agent, llm: shown };
    await configuration.change({ agent, ...change }, secrets, warnings);
  }

  return {
    switchLlm: async (request) => {
      const { llm } = request.body;
      checkModelAddress(llm, ["body", "llm"]);
      const conversation = await openAsked(directory, request);
      const { settings_used: used } = conversation.configuration.config;
      const change = used === undefined ? {} : { settings_used: { ...used, model_profile: null } };
      await switchTo(conversation, llm, change);
      await profileHistory.unpin(request.caller.userId, conversation.id, "model");
      return success;
    },

    switchProfile: async (request) => {
      const { caller } = request;
      const { profile_name: name, profile_revision: revision = null } = request.body;
      const conversation = await openAsked(directory, request);
      const versioned = await settings.load(caller.userId);
      const loc = ["body", "profile_revision"];
      const model = { kind: "model", name } as const;
      const { profile, used } = await profileHistory.use(caller.userId, versioned, model, revision, loc);
      if (used.is_pinned) await profileHistory.pin(caller.userId, conversation.id, "model", used);
      await switchTo(
        conversation,
        { ...(profile.content as LLM), usage_id: `profile:${name}` },
        usedNow(conversation, versioned.version, used),
      );
      if (!used.is_pinned) await profileHistory.unpin(caller.userId, conversation.id, "model");
      return success;
    },
  } satisfies Partial<Handlers<typeof controlRoutes>>;
}

function usedNow(
  { configuration }: Conversation,
  version: number,
  model: UsedProfile,
): { readonly settings_used: SettingsUsed; readonly settings_version: number } {
  const agent = configuration.config.settings_used?.agent_profile ?? null;
  return {
    settings_version: version,
    settings_used: { settings_version: version, agent_profile: agent, model_profile: model },
  };
}
