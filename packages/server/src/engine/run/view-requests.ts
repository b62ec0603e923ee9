import { AgentRequests } from "../../agent/agent-requests.ts";
import type { ViewEvent } from "../../agent/history-view.ts";

/** Builds the requests of a conversation, while the view is cached. */
export class ViewRequests {
  readonly #requests = new WeakMap<readonly ViewEvent[], AgentRequests>();

  /** Builds requests incrementally from this view, also across runs. */
  of(view: readonly ViewEvent[]): AgentRequests {
    const cached = this.#requests.get(view);
    const requests = cached ?? new AgentRequests();
    if (cached === undefined) this.#requests.set(view, requests);
    return requests;
  }
}
