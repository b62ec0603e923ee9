import type { Event } from "@convoke/protocol";
import type { EventMeta } from "../events/event-draft.ts";
import { repairEvent } from "./history-repair.ts";

/** One event as the history reads it. */
export type ViewEvent = { readonly seq: number; readonly event: Event; readonly meta: EventMeta };

/** Kinds that the history is built from. */
export const viewKinds = [
  "SystemPromptEvent",
  "MessageEvent",
  "ActionEvent",
  "ObservationEvent",
  "AgentErrorEvent",
  "UserRejectObservation",
  "Condensation",
  "CondensationSummaryEvent",
  "CondensationRequest",
] as const satisfies readonly Event["kind"][];

/** What is left of a log for the model: without what was forgotten, with each summary where its condensation says. */
export function condensedView(log: readonly ViewEvent[]): ViewEvent[] {
  return extendView([], log);
}

/** The same for a log of which `view` is the condensed beginning and `added` the rest; `view` itself stays as it is. */
export function extendView(view: readonly ViewEvent[], added: readonly ViewEvent[]): ViewEvent[] {
  let extended = [...view];
  let summaryId: string | null = null;
  for (const item of added) {
    const { event, meta } = item;
    if (meta.repaired !== undefined) extended = repair(extended, new Set(meta.repaired));
    switch (event.kind) {
      case "Condensation":
        extended = condense(extended, event);
        summaryId = summaryIdOf(event.id!);
        break;
      case "CondensationSummaryEvent":
        extended = extended.map((one) => (one.event.id === summaryId ? { ...one, event } : one));
        break;
      case "CondensationRequest":
        break;
      default:
        extended.push(item);
    }
  }
  return extended;
}

/** Repaired copies stand in the view from here on, also when the message that told about them is forgotten. */
function repair(view: readonly ViewEvent[], ids: ReadonlySet<string>): ViewEvent[] {
  return view.map((item) => (ids.has(item.event.id!) ? { ...item, event: repairEvent(item.event) } : item));
}

/** Ends the id of a summary that a condensation puts into the view, until the event of the summary itself is read behind it. */
const summarySuffix = "-summary";

function summaryIdOf(condensationId: string): string {
  return `${condensationId}${summarySuffix}`;
}

/**
 * The id by which a later condensation forgets an event of the view: its own, and for a summary that has no event in the log that of
 * the condensation that brought it, so that readers find every id. Older logs have the id that the summary has in the view.
 */
export function idInLog({ id, kind }: Event): string {
  return kind === "CondensationSummaryEvent" && id!.endsWith(summarySuffix)
    ? id!.slice(0, -summarySuffix.length)
    : id!;
}

function condense(view: ViewEvent[], condensation: Extract<Event, { kind: "Condensation" }>): ViewEvent[] {
  const { forgotten_event_ids: ids, summary, summary_offset: offset, id } = condensation;
  const forgotten = new Set(ids ?? []);
  const remaining = view.filter(({ event }) => !forgotten.has(event.id!) && !forgotten.has(idInLog(event)));
  if (summary === null || summary === undefined || offset === null || offset === undefined) return remaining;
  const before = remaining[Math.min(offset, remaining.length) - 1];
  const event: Event = {
    kind: "CondensationSummaryEvent",
    id: summaryIdOf(id!),
    source: "environment",
    summary,
  };
  remaining.splice(offset, 0, { seq: (before?.seq ?? 0) + 0.25, event, meta: {} });
  return remaining;
}
