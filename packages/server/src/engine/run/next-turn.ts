import type { EventDraft } from "../../events/event-draft.ts";
import { startRun, statusUpdate } from "../../events/state-update.ts";
import type { ConversationConfig } from "../conversation-config.ts";
import type { ConversationLog } from "../conversation-log.ts";
import { decideGoalStop } from "../commands/goal.ts";
import { deliverHeld, nextHeld, readHeld } from "../commands/held-messages.ts";
import { withRunFacts } from "./run-facts.ts";

/** What follows the end of a run in the same commit: the oldest messages that waited for it, and their run. */
export async function nextTurn(
  log: Pick<ConversationLog, "find" | "state">,
  {
    settings_version: settingsVersion,
    settings_used: settingsUsed,
  }: Pick<ConversationConfig, "settings_version" | "settings_used">,
): Promise<EventDraft[]> {
  const stored = await readHeld(log, nextHeld(log.state));
  if (stored.length === 0) return [];
  const wantsRun = stored.some(({ draft }) => draft.meta.wantsRun === true);
  const begun = withRunFacts([startRun([])], {
    settingsVersion,
    settingsUsed,
    isAttended: log.state.isAttended,
  });
  return [
    statusUpdate("idle"),
    ...decideGoalStop(log.state).drafts,
    ...deliverHeld(stored),
    ...(wantsRun ? begun : []),
  ];
}
