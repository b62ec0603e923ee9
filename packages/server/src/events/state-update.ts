import type { ConversationExecutionStatus } from "@convoke/protocol";
import type { EventBody, EventDraft } from "./event-draft.ts";

/** One field of the state that clients see has another value now. */
export function stateUpdate(key: string, value: unknown): { readonly body: EventBody } {
  return { body: { kind: "ConversationStateUpdateEvent", source: "environment", key, value } };
}

export function statusUpdate(status: ConversationExecutionStatus): { readonly body: EventBody } {
  return stateUpdate("execution_status", status);
}

/** A run begins, with the calls that were approved for it. */
export function startRun(approved: readonly { readonly id: string }[]): EventDraft {
  return {
    ...statusUpdate("running"),
    meta: { run: { approved: approved.map((action) => action.id) } },
  };
}

/** The wait for another try of a model call is over, with an answer or without; nothing where none is shown. */
export function endRetry({ isRetryShown }: { readonly isRetryShown: boolean }): EventDraft[] {
  return isRetryShown ? [stateUpdate("model_retry", null)] : [];
}

/** Ends a run with an error that clients see and the model does not. */
export function failRun(code: string, detail: string): EventDraft[] {
  return [
    statusUpdate("error"),
    { body: { kind: "ConversationErrorEvent", source: "environment", code, detail } },
  ];
}
