import type { ModelMessage } from "../models/model.ts";
import { extendView, type ViewEvent } from "./history-view.ts";
import { renderView } from "./history.ts";
import { idsUsedBy } from "./response-id.ts";

/**
 * Returns the result of `buildHistory` for the part of a view that a request has seen, incrementally (P59). An event
 * that changes built messages, such as a condensation, makes it rebuild the condensed view.
 */
export class GrowingHistory {
  #view: readonly ViewEvent[] = [];
  /** The number of built events of the view. */
  #count = 0;
  #lastSeq = 0;
  #condensed: readonly ViewEvent[] = [];
  #messages: readonly ModelMessage[] = [];
  #usedIds = new Set<string>();

  /** `view` may have grown at its end since the last call. */
  build(view: readonly ViewEvent[], sawSeq: number): readonly ModelMessage[] {
    const end = view.findLastIndex(({ seq }) => seq <= sawSeq) + 1;
    const isOther = view !== this.#view || end < this.#count;
    if (isOther) this.#forget(view);
    const added = view.slice(this.#count, end);
    const isContinued = !isOther && this.#isContinuedBy(added);
    this.#condensed = extendView(this.#condensed, added);
    this.#messages = isContinued ? [...this.#messages, ...renderView(added)] : renderView(this.#condensed);
    if (!isContinued) this.#usedIds = new Set();
    for (const { event } of isContinued ? added : this.#condensed)
      for (const id of idsUsedBy(event)) this.#usedIds.add(id);
    this.#count = end;
    this.#lastSeq = added.at(-1)?.seq ?? this.#lastSeq;
    return this.#messages;
  }

  /** The events behind what was built last: without forgotten ones, with summaries. */
  get condensed(): readonly ViewEvent[] {
    return this.#condensed;
  }

  /** Ids that an answer to what was built last cannot have, see `withOwnId`. */
  get usedIds(): ReadonlySet<string> {
    return this.#usedIds;
  }

  #forget(view: readonly ViewEvent[]): void {
    this.#view = view;
    this.#count = 0;
    this.#condensed = [];
    this.#messages = [];
  }

  /** True when the events only add messages behind those that were built. */
  #isContinuedBy(added: readonly ViewEvent[]): boolean {
    const actionIds = new Set<string | undefined>();
    for (const { event, meta } of added) {
      // The position of an answer follows from what its request had seen.
      if (meta.sawSeq !== undefined && meta.sawSeq < this.#lastSeq) return false;
      if (meta.repaired !== undefined) return false;
      switch (event.kind) {
        case "ActionEvent":
          if (this.#usedIds.has(event.llm_response_id)) return false;
          actionIds.add(event.id);
          break;
        case "ObservationEvent":
        case "UserRejectObservation":
          if (!actionIds.has(event.action_id)) return false;
          break;
        case "AgentErrorEvent":
          if (meta.answers === undefined ? actionIds.size === 0 : !actionIds.has(meta.answers)) return false;
          break;
        case "Condensation":
        case "CondensationSummaryEvent":
          return false;
        case "SystemPromptEvent":
          if (this.#count > 0) return false;
          break;
        default:
      }
    }
    return true;
  }
}
