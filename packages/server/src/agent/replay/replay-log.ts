import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { ModelMessage } from "../../models/model.ts";
import { summaryRequest } from "../condense/summary-request.ts";
import { isOnPath, navigationsIn, pathTo } from "../branches.ts";
import { planOf } from "../condense/plan.ts";
import { GrowingHistory } from "../growing-history.ts";
import { extendView, viewKinds, type ViewEvent } from "../history-view.ts";
import { RequestHash } from "../request-hash.ts";

/** Kinds that a replay reads: what histories are built from, the errors of requests that ended a run, and navigations. */
export const replayKinds = [...viewKinds, "ConversationErrorEvent", "ConversationStateUpdateEvent"] as const;

/** A request that the log does not lead to. */
export type ReplayDifference = {
  /** Event that came of the request. */
  readonly eventId: string;
  readonly seq: number;
  readonly who: "agent" | "condenser";
  readonly recorded: string;
  readonly rebuilt: string;
};

export type ReplayReport = {
  /** Requests whose record equals what was rebuilt, up to the first difference. */
  readonly verified: number;
  /** Model answers of releases that recorded nothing. */
  readonly unrecorded: number;
  readonly difference: ReplayDifference | null;
};

/** Yields to the event loop after this many milliseconds. */
const pauseAfterMs = 10;

/** Rebuilds every recorded model request from the log alone and compares it with its record, up to the first difference. */
export function replayLog(log: readonly ViewEvent[]): ReplayReport {
  const steps = replaySteps(log);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same, while the server keeps working; rejects when the signal is aborted. */
export async function replayWithPauses(
  log: readonly ViewEvent[],
  signal: AbortSignal,
): Promise<ReplayReport> {
  const steps = replaySteps(log);
  for (;;) {
    signal.throwIfAborted();
    const endsAt = performance.now() + pauseAfterMs;
    do {
      const step = steps.next();
      if (step.done === true) return step.value;
    } while (performance.now() < endsAt);
    await yieldToEventLoop();
  }
}

/** One event of the log at a time. */
function* replaySteps(log: readonly ViewEvent[]): Generator<void, ReplayReport, void> {
  const history = new GrowingHistory();
  const hash = new RequestHash();
  let view: ViewEvent[] = [];
  let verified = 0;
  let unrecorded = 0;
  const navigations = navigationsIn(log);
  for (const item of log) {
    yield;
    if (item.meta.navigation !== undefined) {
      const path = pathTo(navigations, item.seq);
      view = log.filter(({ seq, event }) => isOnPath(path, seq) && isViewKind.has(event.kind));
      continue;
    }
    const recorded = item.meta.request;
    if (recorded === undefined) {
      if (item.meta.sawSeq !== undefined) unrecorded += 1;
    } else {
      const isCondensers = recorded.sawSeq === undefined;
      const rebuilt = isCondensers
        ? new RequestHash().messages(summaryMessages(view, item))
        : hash.messages(history.build(view, recorded.sawSeq));
      if (rebuilt !== recorded.messages) {
        const who = isCondensers ? "condenser" : "agent";
        const difference = {
          eventId: item.event.id!,
          seq: item.seq,
          who,
          recorded: recorded.messages,
          rebuilt,
        } as const;
        return { verified, unrecorded, difference };
      }
      verified += 1;
    }
    if (isViewKind.has(item.event.kind)) view.push(item);
  }
  return { verified, unrecorded, difference: null };
}

/** The messages that the model of a stored condensation was shown; `view` is the log before it. */
export function summaryMessages(view: readonly ViewEvent[], item: ViewEvent): readonly ModelMessage[] {
  if (item.event.kind !== "Condensation") return [];
  return condenserMessages(view, item.event.forgotten_event_ids ?? [], item.meta.shownCharacters ?? 0);
}

/** What a model is shown that sums these events of a log up. */
export function condenserMessages(
  view: readonly ViewEvent[],
  forgottenIds: readonly string[],
  shownCharacters: number,
): readonly ModelMessage[] {
  return summaryRequest(planOf(extendView([], view), forgottenIds), shownCharacters).messages;
}

const isViewKind = new Set<string>(viewKinds);
