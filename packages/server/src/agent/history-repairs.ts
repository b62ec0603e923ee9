import type { EventDraft } from "../events/event-draft.ts";
import type { ModelError } from "../models/model.ts";
import { hasImages } from "./history-repair.ts";
import type { ViewEvent } from "./history-view.ts";
import { environmentMessage } from "./receive.ts";

/** The maximum of successive repairs without an answer of the model. */
const maxRepairs = 3;

/**
 * When a provider refuses a part of the history: the message that has the suspects replaced for the model from here on. What an
 * earlier answer was given to is not suspect, and nothing is repaired twice. Null when there is nothing to repair (P12).
 */
export function repairAfter(error: ModelError, view: readonly ViewEvent[]): EventDraft | null {
  if (error.code !== "LLMMalformedConversationHistoryError") return null;
  const repaired = new Set(view.flatMap(({ meta }) => meta.repaired ?? []));
  const answered = view.findLast(({ meta }) => meta.sawSeq !== undefined);
  const isNew = ({ seq }: ViewEvent): boolean => seq > (answered?.meta.sawSeq ?? 0);
  const repairs = view.filter((item) => item.meta.repaired !== undefined && item.seq > (answered?.seq ?? 0));
  if (repairs.length >= maxRepairs) return null;
  // The messages about earlier repairs are our own words.
  const open = view.filter(
    ({ event, meta }) => isRepairable(event.kind) && !repaired.has(event.id!) && meta.repaired === undefined,
  );
  const suspects = chooseSuspects(open, isNew, {
    isAboutImages: /image|media|picture/iu.test(error.detail),
    isLastTry: repairs.length === maxRepairs - 1,
  });
  if (suspects.length === 0) return null;
  return environmentMessage(notice(suspects.length), { repaired: suspects.map(({ event }) => event.id!) });
}

function chooseSuspects(
  open: readonly ViewEvent[],
  isNew: (item: ViewEvent) => boolean,
  { isAboutImages, isLastTry }: { readonly isAboutImages: boolean; readonly isLastTry: boolean },
): readonly ViewEvent[] {
  const withImages = open.filter(({ event }) => hasImages(event));
  if (isLastTry) return open.filter((item) => isNew(item) || withImages.includes(item) || hasThinking(item));
  if (isAboutImages && withImages.length > 0) return withImages.slice(-1);
  const stages = [open.filter(isNew), open.filter(hasThinking), withImages];
  return stages.find((suspects) => suspects.length > 0) ?? [];
}

const repairableKinds = new Set<string>([
  "MessageEvent",
  "ActionEvent",
  "ObservationEvent",
  "AgentErrorEvent",
]);

function isRepairable(kind: string): boolean {
  return repairableKinds.has(kind);
}

/** Thinking that another provider signed is refused by the one that was switched to. */
function hasThinking({ event }: ViewEvent): boolean {
  if (event.kind === "ActionEvent") return (event.thinking_blocks ?? []).length > 0;
  return event.kind === "MessageEvent" && (event.llm_message.thinking_blocks ?? []).length > 0;
}

function notice(count: number): string {
  const what = count === 1 ? "One earlier item" : `${count} earlier items`;
  return (
    `${what} of this conversation could not be passed on, because the model's provider refused the content. ` +
    "It is shown to you without that content from here on. Go on with the task."
  );
}
