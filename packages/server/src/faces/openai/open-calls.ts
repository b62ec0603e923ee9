import { clientActionPrefix, type Event, type PendingToolCall } from "@convoke/protocol";
import type { OpenAction } from "../../engine/state/conversation-state.ts";

type Call = { readonly toolCallId: string; readonly isOfClient: boolean; isPending: boolean };

/** The calls of a run that have no answer, to know when it waits for results of the client. */
export class OpenCalls {
  /** By the id of the action, in the order of the log. */
  readonly #open = new Map<string, Call>();

  constructor(open: readonly Pick<OpenAction, "id" | "toolCallId" | "resultDeadlineMs">[] = []) {
    for (const { id, toolCallId, resultDeadlineMs } of open) {
      const isPending = resultDeadlineMs !== undefined;
      this.#open.set(id, { toolCallId, isOfClient: isPending, isPending });
    }
  }

  /** True if a call was handed to the client with this event, and the next step is the client's. */
  add(event: Event): boolean {
    switch (event.kind) {
      case "ActionEvent": {
        const { id, action, tool_call_id: toolCallId } = event;
        if (!action) return false;
        const isOfClient = action.kind.startsWith(clientActionPrefix);
        this.#open.set(id!, { toolCallId, isOfClient, isPending: false });
        return false;
      }
      case "ObservationEvent":
      case "UserRejectObservation":
        this.#open.delete(event.action_id);
        return false;
      case "AgentErrorEvent":
        for (const [id, { toolCallId }] of this.#open)
          if (toolCallId === event.tool_call_id) this.#open.delete(id);
        return false;
      case "ConversationStateUpdateEvent":
        return event.key === "pending_tool_call" && this.#waits((event.value as PendingToolCall).action_id);
      default:
        return false;
    }
  }

  /** False while another call will be handed over without the client: one behind a call of the server may have to wait. */
  #waits(id: string): boolean {
    const handedOver = this.#open.get(id);
    if (handedOver !== undefined) handedOver.isPending = true;
    for (const { isOfClient, isPending } of this.#open.values()) {
      if (!isOfClient) return true;
      if (!isPending) return false;
    }
    return true;
  }
}
