import type { ModelMessage } from "../models/model.ts";
import { buildHistory, type ViewEvent } from "./history.ts";

/**
 * Gives what `buildHistory` gives for the part of a view that a request has seen, at the price of what was added since the
 * last one (P59). Whatever reaches back into what was built, such as a condensation, has everything built anew.
 */
export class GrowingHistory {
  #view: readonly ViewEvent[] = [];
  /** So many events of the view are built. */
  #count = 0;
  #lastSeq = 0;
  #messages: readonly ModelMessage[] = [];
  #responseIds = new Set<string>();

  /** `view` may have grown at its end since the last call. */
  build(view: readonly ViewEvent[], sawSeq: number): readonly ModelMessage[] {
    const end = view.findLastIndex(({ seq }) => seq <= sawSeq) + 1;
    if (view !== this.#view || end < this.#count || !this.#isContinuedBy(view.slice(this.#count, end))) {
      this.#view = view;
      this.#count = 0;
      this.#messages = [];
      this.#responseIds = new Set();
    }
    const added = view.slice(this.#count, end);
    for (const { event } of added)
      if (event.kind === "ActionEvent") this.#responseIds.add(event.llm_response_id);
    this.#messages = [...this.#messages, ...buildHistory(added)];
    this.#count = end;
    this.#lastSeq = added.at(-1)?.seq ?? this.#lastSeq;
    return this.#messages;
  }

  /** True when the events only add messages behind those that were built. */
  #isContinuedBy(added: readonly ViewEvent[]): boolean {
    const actionIds = new Set<string | undefined>();
    for (const { event, meta } of added) {
      // Where an answer of the model stands is told by what its request had seen.
      if (meta.sawSeq !== undefined && meta.sawSeq < this.#lastSeq) return false;
      switch (event.kind) {
        case "ActionEvent":
          if (this.#responseIds.has(event.llm_response_id)) return false;
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
          return false;
        default:
      }
    }
    return true;
  }
}
