import type { Event } from "@convoke/protocol";
import type { EventMeta } from "../events/event-draft.ts";

type Call = { readonly id: string; readonly callId: string; readonly isFinish: boolean };

/**
 * The private facts that this server stores beside its own events and that a source does not have, told from the log itself: which
 * events are the beginning of an answer, which action an error answers, and after which result nothing is left to read.
 */
export class EventFacts {
  readonly #answers = new Set<string>();
  #open: Call[] = [];

  /** To be asked once for each event, in the order of the log. */
  of(event: Event, seq: number): EventMeta {
    switch (event.kind) {
      case "ActionEvent": {
        const isFinish = event.action?.kind === "FinishAction";
        if (event.action) this.#open.push({ id: event.id!, callId: event.tool_call_id, isFinish });
        return this.#begins(event.llm_response_id) ? { sawSeq: seq - 1 } : {};
      }
      case "MessageEvent":
        return event.source === "agent" ? { sawSeq: seq - 1 } : {};
      case "ObservationEvent":
      case "UserRejectObservation": {
        const call = this.#close(({ id }) => id === event.action_id);
        return call?.isFinish === true && event.kind === "ObservationEvent" ? { isFinal: true } : {};
      }
      case "AgentErrorEvent": {
        const call = this.#close(({ callId }) => callId === event.tool_call_id);
        return call === null ? {} : { answers: call.id };
      }
      default:
        return {};
    }
  }

  #begins(responseId: string): boolean {
    if (this.#answers.has(responseId)) return false;
    this.#answers.add(responseId);
    return true;
  }

  #close(matches: (call: Call) => boolean): Call | null {
    const call = this.#open.find(matches) ?? null;
    this.#open = this.#open.filter((other) => other !== call);
    return call;
  }
}
