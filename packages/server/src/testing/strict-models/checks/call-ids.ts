import type { Check, Complaint } from "../strict-provider.ts";
import type { ReadCall, ReadMessage, ReadResult } from "../readings/reading.ts";

/** Where an id stands: at a call, or at the result of one. */
export type IdPlace = {
  readonly kind: "call" | "result";
  readonly message: ReadMessage;
  readonly part: number;
  /** An empty text where there is none. */
  readonly id: string;
};

/** Every id of a call, at the call and at its result, has this form. */
export function callIds(isRight: (id: string) => boolean, complain: (place: IdPlace) => Complaint): Check {
  return (_request, { messages }) => {
    for (const message of messages) {
      for (const { kind, one } of idsOf(message)) {
        const id = one.id ?? "";
        if (!isRight(id)) return complain({ kind, message, part: one.part, id });
      }
    }
    return null;
  };
}

/** No two calls of a conversation have the same id. */
export function uniqueCallIds(complain: (message: ReadMessage, call: ReadCall) => Complaint): Check {
  return (_request, { messages }) => {
    const seen = new Set<string>();
    for (const message of messages) {
      for (const call of message.calls) {
        if (call.id === null) continue;
        if (seen.has(call.id)) return complain(message, call);
        seen.add(call.id);
      }
    }
    return null;
  };
}

function idsOf(message: ReadMessage): { kind: IdPlace["kind"]; one: ReadCall | ReadResult }[] {
  return [
    ...message.calls.map((one) => ({ kind: "call" as const, one })),
    ...message.results.map((one) => ({ kind: "result" as const, one })),
  ];
}
