import type { EventDraft } from "../events/event-draft.ts";
import type { ConversationConfig } from "./conversation-config.ts";

/** Notes on each run that begins which version of its user's settings it works with (P34). */
export function withSettingsVersion(
  drafts: readonly EventDraft[],
  { settings_version: settingsVersion }: ConversationConfig,
): readonly EventDraft[] {
  if (settingsVersion === undefined) return drafts;
  return drafts.map((draft) =>
    draft.meta?.run === undefined
      ? draft
      : { ...draft, meta: { ...draft.meta, run: { ...draft.meta.run, settingsVersion } } },
  );
}
