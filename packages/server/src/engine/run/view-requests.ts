import { AgentRequests } from "../../agent/agent-requests.ts";
import type { ViewEvent } from "../../agent/history-view.ts";

/** The requests of a conversation, as long as the view that they are built from is in memory. */
export class ViewRequests {
  readonly #requests = new WeakMap<readonly ViewEvent[], AgentRequests>();

  /** Builds requests from this view at the price of what came since the last one, also of an earlier run. */
  of(view: readonly ViewEvent[]): AgentRequests {
    const cached = this.#requests.get(view);
    const requests = cached ?? new AgentRequests();
    if (cached === undefined) this.#requests.set(view, requests);
    return requests;
  }
}
