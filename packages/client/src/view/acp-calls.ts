import { hasEnded, rowOfAcpCall } from "./acp-call.ts";
import type { ActionRow } from "./row.ts";
import { textAt, type UnknownRecord } from "./unknown-record.ts";

/** The events about calls of another agent, by call id. */
export class AcpCalls {
  /** In log order, which is the order of ids. */
  #events = new Map<string, readonly UnknownRecord[]>();

  copy(): AcpCalls {
    const copy = new AcpCalls();
    copy.#events = new Map(this.#events);
    return copy;
  }

  /** Returns the id of the call. */
  add(event: UnknownRecord): string {
    const callId = textAt(event, "tool_call_id");
    const events = [...(this.#events.get(callId) ?? []), event];
    this.#events.set(
      callId,
      events.toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1)),
    );
    return callId;
  }

  /** The rows of a call id, and the ids of its events that are part of the row of another one. */
  draw(callId: string): { readonly rows: readonly ActionRow[]; readonly rowless: readonly string[] } {
    const calls = split(this.#events.get(callId) ?? []);
    return { rows: calls.map(rowOfAcpCall), rowless: calls.flatMap((call) => call.slice(1).map(idOf)) };
  }

  /** Forgets events, and returns the ids of their calls. */
  drop(isDropped: (id: string) => boolean): readonly string[] {
    const callIds: string[] = [];
    for (const [callId, events] of this.#events) {
      const left = events.filter((event) => !isDropped(idOf(event)));
      if (left.length === events.length) continue;
      callIds.push(callId);
      if (left.length === 0) this.#events.delete(callId);
      else this.#events.set(callId, left);
    }
    return callIds;
  }
}

/** Whether a row says the same as before. */
export function isSameCall(known: ActionRow, row: ActionRow): boolean {
  return (
    known.outcome?.id === row.outcome?.id && known.callText === row.callText && known.summary === row.summary
  );
}

/** An agent may use an id again once the call has ended. A call that was reported as ended twice is one. */
function split(events: readonly UnknownRecord[]): readonly (readonly UnknownRecord[])[] {
  const calls: UnknownRecord[][] = [];
  for (const event of events) {
    const last = calls.at(-1);
    if (last === undefined || (hasEnded(last.at(-1)!) && !hasEnded(event))) calls.push([event]);
    else last.push(event);
  }
  return calls;
}

function idOf(event: UnknownRecord): string {
  return textAt(event, "id");
}
