import type { EventDraft } from "../../events/event-draft.ts";

export type RunFacts = {
  /** The version of its user's settings that it works with (P34). */
  readonly settingsVersion?: number;
  /** It belongs to a process that is there for it alone, and does not go on by itself without that one (P64). */
  readonly isAttended?: true;
};

/** Notes them on each run that begins. */
export function withRunFacts(drafts: readonly EventDraft[], facts: RunFacts): readonly EventDraft[] {
  if (Object.keys(facts).length === 0) return drafts;
  return drafts.map((draft) =>
    draft.meta?.run === undefined
      ? draft
      : { ...draft, meta: { ...draft.meta, run: { ...draft.meta.run, ...facts } } },
  );
}
