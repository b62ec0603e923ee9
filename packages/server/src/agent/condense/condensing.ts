import { describeError } from "../../lib/describe-error.ts";
import type { EventBody, EventDraft } from "../../events/event-draft.ts";
import type { Model } from "../../models/model.ts";
import { renderView } from "../history.ts";
import { idInLog, type ViewEvent } from "../history-view.ts";
import { isDue, shares, type CondenserSettings } from "./condenser-settings.ts";
import { planCondensation, type CondensationPlan } from "./plan.ts";
import { plainNotes } from "./plain-notes.ts";
import type { TokenEstimate } from "./token-estimate.ts";
import { boundedNotes, writeSummary, type WrittenSummary } from "./write-summary.ts";

export type CondensingDeps = {
  /** Opens the condenser's model with its secrets. */
  readonly openModel: (settings: CondenserSettings) => Model;
  readonly warn: (fields: { readonly code: string; readonly detail: string }) => void;
};

/** How things stand before a request to the agent's model. */
export type Situation = {
  readonly settings: CondenserSettings | null;
  /** The log's view as stored. */
  readonly view: readonly ViewEvent[];
  /** The same without what was forgotten. */
  readonly condensed: readonly ViewEvent[];
  /** Of the request, corrected by what the provider counted. */
  readonly tokens: number;
  readonly calibration: number;
  readonly estimate: TokenEstimate;
};

/** A condensation that is ready to be stored. */
export type Condensed = EventDraft;

/** Maximum number of condensations in a row without an answer of the agent's model (P11). */
export const maxCondensations = 2;

type Job = {
  readonly plan: CondensationPlan;
  readonly settings: CondenserSettings;
  readonly stop: AbortController;
  readonly leaving: AbortController;
  readonly written: Promise<WrittenSummary | null>;
  isDone: boolean;
};

/**
 * The condensations of one conversation, one at a time. A summary is begun beside the run before the window is full, and is
 * stored between two turns; only when there is no room left does the run wait for it.
 */
export class Condensing {
  readonly #deps: CondensingDeps;
  #job: Job | null = null;
  /** After a failed summary: no other is begun beside the run before the view has so many events. */
  #quietUntilEvents = 0;

  constructor(deps: CondensingDeps) {
    this.#deps = deps;
  }

  /** Begins what is due. Null: the request can be made now; otherwise it waits for this, which is null when it was aborted. */
  before(situation: Situation): Promise<Condensed | null> | null {
    const { settings, view, condensed, tokens } = situation;
    if (settings === null) return null;
    const past = sinceLastAnswer(view);
    if (past.condensations >= maxCondensations) return null;
    const isForced = past.isRequested || tokens > settings.maxTokens;
    this.#dropStale(condensed);
    if (this.#job === null) {
      // Right behind a condensation only need begins another: the second one keeps nothing but what must never go.
      const isSoon = past.condensations === 0 && isDue(settings, condensed.length, tokens);
      const isWanted = isForced || (isSoon && condensed.length >= this.#quietUntilEvents);
      const plan = isWanted ? choosePlan(situation, past) : null;
      if (plan !== null) this.#begin(plan, settings);
    }
    const job = this.#job;
    if (job === null || !(isForced || job.isDone)) return null;
    return this.#finish(job, isForced, condensed.length);
  }

  /** Whether someone who asks for a condensation now would get one. */
  canForget(situation: Situation): boolean {
    const past = { ...sinceLastAnswer(situation.view), isRequested: true };
    return past.condensations < maxCondensations && choosePlan(situation, past) !== null;
  }

  /** Ends the call of the summarising model that is in progress. */
  abort(): void {
    this.#job?.stop.abort();
    this.#job = null;
  }

  /** No further attempt of the summarising model starts; the one in progress finishes. */
  leave(): void {
    this.#job?.leaving.abort();
  }

  /** Resolves when nothing is in progress any more. */
  async close(): Promise<void> {
    const job = this.#job;
    this.abort();
    await job?.written;
  }

  #begin(plan: CondensationPlan, settings: CondenserSettings): void {
    const [stop, leaving] = [new AbortController(), new AbortController()];
    const job: Job = {
      plan,
      settings,
      stop,
      leaving,
      isDone: false,
      written: this.#write(plan, settings, { signal: stop.signal, leaving: leaving.signal }),
    };
    this.#job = job;
    void job.written.then(() => (job.isDone = true));
  }

  async #write(
    plan: CondensationPlan,
    settings: CondenserSettings,
    signals: Parameters<typeof writeSummary>[3],
  ): Promise<WrittenSummary | null> {
    try {
      const written = await writeSummary(plan, settings, this.#deps.openModel(settings), signals);
      if (written === null || "summary" in written) return written;
      this.#deps.warn(written);
    } catch (error) {
      // Without the model there is no summary; the run continues as far as it can.
      this.#deps.warn({
        code: "InternalError",
        detail: describeError(error),
      });
    }
    return null;
  }

  async #finish(job: Job, isForced: boolean, events: number): Promise<Condensed | null> {
    const written = await job.written;
    // Two may have waited for it: a run, and someone who asked for it. The first has it.
    if (job.stop.signal.aborted || this.#job !== job) return null;
    this.#job = null;
    if (written !== null) return fromModel(job, written);
    // Cancelled for a pause: the next run writes it.
    if (job.leaving.signal.aborted) return null;
    this.#quietUntilEvents = Math.ceil(events * 1.1) + 1;
    return isForced ? withoutModel(job) : null;
  }

  /** A plan whose events are not all there any more is of no use. */
  #dropStale(condensed: readonly ViewEvent[]): void {
    if (this.#job === null) return;
    const ids = new Set(condensed.map(({ event }) => idInLog(event)));
    if (!this.#job.plan.forgottenIds.every((id) => ids.has(id))) this.abort();
  }
}

/** What happened since the agent's model last answered. */
export function sinceLastAnswer(view: readonly ViewEvent[]): {
  readonly condensations: number;
  /** Requests that the provider refused as too long. */
  readonly overflows: number;
  /** Someone asked for a condensation, and none came since. */
  readonly isRequested: boolean;
} {
  let condensations = 0;
  let overflows = 0;
  let isRequested = false;
  for (let index = view.length - 1; index >= 0; index--) {
    const { event, meta } = view[index]!;
    if (meta.sawSeq !== undefined) break;
    if (event.kind === "Condensation" && meta.dequeued === undefined) condensations += 1;
    if (event.kind !== "CondensationRequest") continue;
    if (condensations === 0) isRequested = true;
    if (meta.request !== undefined) overflows += 1;
  }
  return { condensations, overflows, isRequested };
}

/** The second try without an answer between keeps nothing but what must never go. */
function choosePlan(
  { settings, condensed, tokens, calibration, estimate }: Situation,
  past: ReturnType<typeof sinceLastAnswer>,
): CondensationPlan | null {
  const { keepFirst, maxEvents, maxTokens, minimumProgress } = settings!;
  const isLast = past.condensations === maxCondensations - 1;
  const tokensOf = (events: readonly ViewEvent[]): number =>
    estimate.messages(renderView(events)) * calibration;
  const half = (events: number): number => Math.max(0, Math.floor(events / 2) - keepFirst - 1);
  const isTooMany = maxEvents !== null && condensed.length > maxEvents;
  const plan = planCondensation(condensed, {
    keepFirst: isLast ? 0 : keepFirst,
    tailEvents: isLast
      ? 0
      : Math.min(
          past.isRequested ? half(condensed.length) : Infinity,
          isTooMany ? half(maxEvents) : Infinity,
        ),
    tailTokens: isLast ? 0 : Math.min(maxTokens, tokens) * shares.tail,
    tokensOf,
  });
  if (plan === null || past.isRequested) return plan;
  // Nobody asked: what it frees must be worth a summary, or it would be tried again at every turn.
  const isWorthIt =
    tokensOf(plan.forgotten) >= maxTokens * minimumProgress ||
    (isTooMany && plan.forgotten.length >= condensed.length * minimumProgress);
  return isWorthIt ? plan : null;
}

function fromModel({ plan }: Job, written: WrittenSummary): Condensed {
  const { request, shownCharacters, response, summary } = written;
  return { body: condensation(plan, summary, response.id), meta: { request, shownCharacters } };
}

function withoutModel({ plan, settings }: Job): Condensed {
  return { body: condensation(plan, boundedNotes(plainNotes(plan), settings), "none") };
}

function condensation(plan: CondensationPlan, summary: string, responseId: string): EventBody {
  return {
    kind: "Condensation",
    source: "environment",
    forgotten_event_ids: [...plan.forgottenIds],
    summary,
    summary_offset: plan.offset,
    llm_response_id: responseId,
  };
}
