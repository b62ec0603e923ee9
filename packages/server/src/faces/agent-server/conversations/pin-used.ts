import type { SettingsUsed } from "@convoke/protocol";
import type { ProfileHistory } from "../../../settings/profile-history.ts";

/** Pins the revisions that a conversation names, before the conversation is stored with them. */
export async function pinUsed(
  history: Pick<ProfileHistory, "pin">,
  userId: string,
  conversationId: string,
  { agent_profile: agent, model_profile: model }: SettingsUsed,
): Promise<void> {
  if (agent?.is_pinned === true) await history.pin(userId, conversationId, "agent", agent);
  if (model?.is_pinned === true) await history.pin(userId, conversationId, "model", model);
}
