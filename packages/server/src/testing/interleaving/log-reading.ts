import type { Event } from "@convoke/protocol";
import type { EventMeta } from "../../events/event-draft.ts";
import type { MemoryLog } from "./memory-journal.ts";

type Entry = { readonly seq: number; readonly event: Event; readonly meta: EventMeta };

/** State of one action according to the log. */
type ActionFacts = { readonly toolName: string; isAwaiting: boolean; readonly answers: string[] };

/** A second reading of the log, as simple as possible and without the production fold, to compare the conversation with. */
export class LogReading {
  readonly #log: MemoryLog;
  readonly #accepted: ReadonlySet<number>;
  readonly #actions = new Map<string, ActionFacts>();
  readonly #wanted: number[] = [];
  readonly #userMessages: string[] = [];
  #batchesRead = 0;
  #seq = 0;
  #status = "idle";
  #runCount = 0;
  #lastSaw = 0;

  /** `accepted`: positions of the batches that an explicit approval may have written. */
  constructor(log: MemoryLog, accepted: ReadonlySet<number>) {
    this.#log = log;
    this.#accepted = accepted;
  }

  get status(): string {
    this.#catchUp();
    return this.#status;
  }

  /** Number of runs that were started. */
  get runCount(): number {
    this.#catchUp();
    return this.#runCount;
  }

  get actions(): ReadonlyMap<string, Readonly<ActionFacts>> {
    this.#catchUp();
    return this.#actions;
  }

  /** Number of user messages that asked for a run and that no model answer has seen. */
  get unansweredCount(): number {
    this.#catchUp();
    return this.#wanted.filter((seq) => seq > this.#lastSaw).length;
  }

  /** Texts, in order. */
  get userMessages(): readonly string[] {
    this.#catchUp();
    return this.#userMessages;
  }

  #catchUp(): void {
    for (; this.#batchesRead < this.#log.batches.length; this.#batchesRead++) {
      const batch = this.#log.batches[this.#batchesRead]!.map(({ json, meta }): Entry => {
        this.#seq += 1;
        return {
          seq: this.#seq,
          event: JSON.parse(json) as Event,
          meta: meta === null ? {} : (JSON.parse(meta) as EventMeta),
        };
      });
      this.#readBatch(batch);
    }
  }

  #readBatch(batch: readonly Entry[]): void {
    const isMessage = batch.some(({ event }) => event.kind === "MessageEvent");
    const isSeen = this.#status === "waiting_for_confirmation" || this.#accepted.has(this.#batchesRead);
    for (const entry of batch) this.#readEvent(entry, !isMessage && isSeen);
  }

  /** `isApproval`: a run approves the pending actions that the user saw; a message never does (W2). */
  #readEvent({ seq, event, meta }: Entry, isApproval: boolean): void {
    if (meta.sawSeq !== undefined) this.#lastSaw = Math.max(this.#lastSaw, meta.sawSeq);
    switch (event.kind) {
      case "MessageEvent":
        if (event.source !== "user") return;
        this.#userMessages.push(textOf(event));
        if (meta.wantsRun === true) this.#wanted.push(seq);
        return;
      case "ActionEvent":
        if (!event.action) return;
        this.#actions.set(event.id!, {
          toolName: event.tool_name,
          isAwaiting: meta.gate === "awaiting",
          answers: [],
        });
        return;
      case "ObservationEvent":
      case "UserRejectObservation":
        this.#actions.get(event.action_id)?.answers.push(event.kind);
        return;
      case "AgentErrorEvent":
        if (meta.answers !== undefined) this.#actions.get(meta.answers)?.answers.push(event.kind);
        return;
      case "ConversationStateUpdateEvent":
        if (event.key !== "execution_status") return;
        this.#status = String(event.value);
        if (meta.run !== undefined) this.#runCount += 1;
        for (const id of isApproval ? (meta.run?.approved ?? []) : []) {
          const action = this.#actions.get(id);
          if (action !== undefined) action.isAwaiting = false;
        }
        return;
      default:
    }
  }
}

function textOf(event: Extract<Event, { kind: "MessageEvent" }>): string {
  const [part] = event.llm_message.content ?? [];
  return part !== undefined && "text" in part ? part.text : "";
}
