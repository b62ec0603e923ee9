import type { Event } from "@convoke/protocol";
import type { EventMeta } from "../../journal/event-draft.ts";
import type { MemoryLog } from "./memory-journal.ts";

type Entry = { readonly seq: number; readonly event: Event; readonly meta: EventMeta };

/** What the log says of one action, read without the production fold. */
export type ActionFacts = {
  readonly toolName: string;
  readonly isAwaiting: boolean;
  readonly answers: readonly string[];
};

/** A second reading of the log, as plain as can be, to hold the conversation against. */
export type LogFacts = {
  readonly status: string;
  readonly actions: ReadonlyMap<string, ActionFacts>;
  /** User messages that asked for a run and that no model answer has seen. */
  readonly unanswered: readonly string[];
  readonly userMessages: readonly string[];
};

/** `accepted`: positions of the batches that an explicit approval may have written. */
export function readFacts(log: MemoryLog, accepted: ReadonlySet<number>): LogFacts {
  const entries = log.events.map(toEntry);
  const actions = new Map<string, { toolName: string; isAwaiting: boolean; answers: string[] }>();
  const answer = (actionId: string, kind: string): void => {
    actions.get(actionId)?.answers.push(kind);
  };
  let status = "idle";
  let lastSaw = 0;
  for (const [position, batch] of batchesOf(log, entries).entries()) {
    const before = status;
    const isMessage = batch.some(({ event }) => event.kind === "MessageEvent");
    for (const { event, meta } of batch) {
      if (meta.sawSeq !== undefined) lastSaw = Math.max(lastSaw, meta.sawSeq);
      if (event.kind === "ActionEvent" && event.action) {
        actions.set(event.id!, {
          toolName: event.tool_name,
          isAwaiting: meta.gate === "awaiting",
          answers: [],
        });
      } else if (event.kind === "ObservationEvent" || event.kind === "UserRejectObservation") {
        answer(event.action_id, event.kind);
      } else if (event.kind === "AgentErrorEvent" && meta.answers !== undefined) {
        answer(meta.answers, event.kind);
      } else if (event.kind === "ConversationStateUpdateEvent" && event.key === "execution_status") {
        status = String(event.value);
        // A run approves what the user saw waiting; saying something never does (W2).
        const isApproval = !isMessage && (before === "waiting_for_confirmation" || accepted.has(position));
        for (const id of isApproval ? (meta.run?.approved ?? []) : []) {
          const action = actions.get(id);
          if (action !== undefined) action.isAwaiting = false;
        }
      }
    }
  }
  const said = entries.filter(({ event }) => event.kind === "MessageEvent" && event.source === "user");
  return {
    status,
    actions,
    unanswered: said
      .filter(({ seq, meta }) => meta.wantsRun === true && seq > lastSaw)
      .map(({ event }) => event.id!),
    userMessages: said.map(({ event }) => textOf(event)),
  };
}

function batchesOf(log: MemoryLog, entries: readonly Entry[]): Entry[][] {
  let at = 0;
  return log.batches.map((batch) => entries.slice(at, (at += batch.length)));
}

function toEntry({ seq, json, meta }: MemoryLog["events"][number]): Entry {
  return {
    seq,
    event: JSON.parse(json) as Event,
    meta: meta === null ? {} : (JSON.parse(meta) as EventMeta),
  };
}

function textOf(event: Event): string {
  const [part] = event.kind === "MessageEvent" ? (event.llm_message.content ?? []) : [];
  return part !== undefined && "text" in part ? part.text : "";
}
