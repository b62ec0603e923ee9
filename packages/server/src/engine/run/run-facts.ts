import type { SettingsUsed } from "@convoke/protocol";
import type { EventDraft, EventMeta } from "../../events/event-draft.ts";

export type RunFacts = {
  /** The version of the user's settings that it uses (P34). */
  readonly settingsVersion: number | undefined;
  /** The stored profiles that its agent and its model are of. */
  readonly settingsUsed: SettingsUsed | undefined;
  /** True for a run of an attended process, which is not resumed without that process (P64). */
  readonly isAttended: boolean;
};

type Mutable<Fields> = { -readonly [Name in keyof Fields]: Fields[Name] };

/** Records them for each run that starts. */
export function withRunFacts(
  drafts: readonly EventDraft[],
  { settingsVersion, settingsUsed, isAttended }: RunFacts,
): readonly EventDraft[] {
  return drafts.map((draft) => {
    if (draft.meta?.run === undefined) return draft;
    const run: Mutable<NonNullable<EventMeta["run"]>> = { ...draft.meta.run };
    if (settingsVersion !== undefined) run.settingsVersion = settingsVersion;
    if (settingsUsed !== undefined) run.settingsUsed = settingsUsed;
    if (isAttended) run.isAttended = true;
    return { ...draft, meta: { ...draft.meta, run } };
  });
}
