import { asRecord, recordAt, textAt, textsAt, type UnknownRecord } from "./unknown-record.ts";
import { AcpCalls, isSameCall } from "./acp-calls.ts";
import { isTakingBack, rowOfEvent } from "./row-of-event.ts";
import type { ActionRow, Outcome, Row, TaskState } from "./row.ts";

type Call = { readonly actions: readonly string[]; readonly errors: readonly Outcome[] };

/**
 * The rows of the added events, in log order. The order and chunks in which events arrive do not matter, and
 * duplicates are ignored; an unchanged row stays the same object.
 */
export class RowFold {
  #seen = new Set<string>();
  #byId = new Map<string, Row>();
  /** In log order, which is the sort order of ids. */
  #order: string[] = [];
  /** Null while rows must be sorted. */
  #rows: readonly Row[] | null = [];
  /** Outcomes by action id; the first one counts. */
  #outcomes = new Map<string, Outcome>();
  /** Errors have only the call id, which a model may reuse: they belong to the nearest such action before them. */
  #calls = new Map<string, Call>();
  #tasks = new Map<string, TaskState & { readonly eventId: string }>();
  #takenBack = new Set<string>();
  #acpCalls = new AcpCalls();
  /** Ids of the rows that the events being added have changed. */
  #changed = new Set<string>();

  /** A copy; later additions to one do not affect the other. */
  copy(): RowFold {
    const copy = new RowFold();
    copy.#seen = new Set(this.#seen);
    copy.#byId = new Map(this.#byId);
    copy.#order = [...this.#order];
    copy.#rows = this.#rows;
    copy.#outcomes = new Map(this.#outcomes);
    copy.#calls = new Map(this.#calls);
    copy.#tasks = new Map(this.#tasks);
    copy.#takenBack = new Set(this.#takenBack);
    copy.#acpCalls = this.#acpCalls.copy();
    return copy;
  }

  /** Returns the ids of the rows that are new or changed, in the order in which they changed. */
  add(events: readonly UnknownRecord[]): ReadonlySet<string> {
    const changed = new Set<string>();
    this.#changed = changed;
    for (const event of events) this.#add(event);
    return changed;
  }

  /** Undefined where the event with this id has no row. */
  row(id: string): Row | undefined {
    return this.#byId.get(id);
  }

  rows(): readonly Row[] {
    this.#rows ??= this.#order.map((id) => this.#byId.get(id)!);
    return this.#rows;
  }

  /** Drops all events before the one with this id; they can be added again. */
  dropBefore(first: string): void {
    this.#drop((id) => id < first);
    // Earlier events cannot answer later actions.
    for (const [id, outcome] of this.#outcomes) if (outcome.id < first) this.#outcomes.delete(id);
    for (const [id, { eventId }] of this.#tasks) if (eventId < first) this.#tasks.delete(id);
    for (const callId of this.#acpCalls.drop((id) => id < first)) this.#drawAcp(callId);
  }

  /** Drops all events after the one with this id; they can be added again. Remaining rows keep their outcome. */
  dropAfter(last: string): void {
    this.#drop((id) => id > last);
    for (const known of [this.#outcomes, this.#tasks, this.#takenBack])
      for (const id of known.keys()) if (id > last) known.delete(id);
    this.#acpCalls.drop((id) => id > last);
  }

  #drop(isDropped: (id: string) => boolean): void {
    for (const id of this.#seen) if (isDropped(id)) this.#seen.delete(id);
    for (const id of this.#order) if (isDropped(id)) this.#byId.delete(id);
    this.#order = this.#order.filter((id) => !isDropped(id));
    this.#rows = null;
    for (const [callId, { actions, errors }] of this.#calls) {
      const left = actions.filter((id) => !isDropped(id));
      const answers = new Set(left.map((id) => this.#outcomeOf(id)?.id));
      const leftErrors = errors.filter(({ id }) => !isDropped(id) || answers.has(id));
      if (left.length + leftErrors.length === 0) this.#calls.delete(callId);
      else this.#calls.set(callId, { actions: left, errors: leftErrors });
    }
  }

  #outcomeOf(id: string): Outcome | null {
    const row = this.#byId.get(id);
    return row?.type === "action" ? row.outcome : null;
  }

  #add(event: UnknownRecord): void {
    const id = textAt(event, "id");
    if (id === "" || this.#seen.has(id)) return;
    this.#seen.add(id);
    const row = rowOfEvent(event);
    if (row !== null) this.#insert(row);
    switch (event["kind"]) {
      case "ActionEvent":
        this.#noteCall(event, ({ actions, errors }) => ({ actions: [...actions, id], errors }));
        this.#settle(id);
        break;
      case "MessageEvent":
        this.#settle(id);
        break;
      case "ObservationEvent":
      case "UserRejectObservation":
        this.#answer(textAt(event, "action_id"), outcomeOf(event));
        break;
      case "AgentErrorEvent":
        this.#noteCall(event, ({ actions, errors }) => ({
          actions,
          errors: [...errors.filter((error) => error.id !== id), outcomeOf(event)],
        }));
        break;
      case "Condensation":
        if (isTakingBack(event)) this.#takeBack(textsAt(event, "forgotten_event_ids")[0]!);
        break;
      case "ACPToolCallEvent":
        this.#drawAcp(this.#acpCalls.add(event));
        break;
      case "ConversationStateUpdateEvent":
        if (event["key"] === "task") this.#noteTask(id, asRecord(event["value"]));
    }
  }

  #insert(row: Row): void {
    this.#byId.set(row.id, row);
    this.#changed.add(row.id);
    this.#rows = null;
    let end = this.#order.length;
    if (end === 0 || this.#order[end - 1]! < row.id) {
      this.#order.push(row.id);
      return;
    }
    let start = 0;
    while (start < end) {
      const middle = (start + end) >> 1;
      if (this.#order[middle]! < row.id) start = middle + 1;
      else end = middle;
    }
    this.#order.splice(start, 0, row.id);
  }

  #answer(actionId: string, outcome: Outcome): void {
    const known = this.#outcomes.get(actionId);
    if (known !== undefined && known.id < outcome.id) return;
    this.#outcomes.set(actionId, outcome);
    this.#settle(actionId);
  }

  #noteCall(event: UnknownRecord, note: (call: Call) => Call): void {
    const callId = textAt(event, "tool_call_id");
    const call = note(this.#calls.get(callId) ?? { actions: [], errors: [] });
    this.#calls.set(callId, call);
    for (const id of call.actions) this.#settle(id);
  }

  #noteTask(eventId: string, value: UnknownRecord | null): void {
    const actionId = textAt(value, "action_id");
    const known = this.#tasks.get(actionId);
    if (known !== undefined && known.eventId > eventId) return;
    this.#tasks.set(actionId, {
      eventId,
      taskId: textAt(value, "task_id"),
      subagent: textAt(value, "subagent"),
      status: textAt(value, "status"),
    });
    this.#settle(actionId);
  }

  /** An event that arrives late may be the beginning of a call that already has a row. */
  #drawAcp(callId: string): void {
    const { rows, rowless } = this.#acpCalls.draw(callId);
    for (const id of rowless) {
      if (!this.#byId.delete(id)) continue;
      this.#order = this.#order.filter((other) => other !== id);
      this.#rows = null;
    }
    for (const row of rows) {
      const known = this.#byId.get(row.id);
      if (known === undefined) this.#insert(row);
      else if (known.type === "action" && !isSameCall(known, row)) this.#replace(row);
    }
  }

  #takeBack(messageId: string): void {
    this.#takenBack.add(messageId);
    this.#settle(messageId);
  }

  /** Updates a row with its outcome and task. */
  #settle(id: string): void {
    const row = this.#byId.get(id);
    if (row?.type === "message" && row.isTakenBack !== this.#takenBack.has(id))
      this.#replace({ ...row, isTakenBack: true });
    if (row?.type !== "action") return;
    const outcome = this.#outcomes.get(id) ?? this.#errorFor(row);
    const task = this.#tasks.get(id);
    if (row.outcome === outcome && row.task === (task ?? null)) return;
    this.#replace({ ...row, outcome, task: task ?? null });
  }

  #errorFor(row: ActionRow): Outcome | null {
    const call = this.#calls.get(row.toolCallId);
    if (call === undefined) return null;
    const next = call.actions
      .filter((id) => id > row.id)
      .reduce<string | null>((least, id) => (least === null || id < least ? id : least), null);
    const errors = call.errors.filter(({ id }) => id > row.id && (next === null || id < next));
    return errors.reduce<Outcome | null>(
      (least, error) => (least !== null && least.id < error.id ? least : error),
      null,
    );
  }

  #replace(row: Row): void {
    this.#byId.set(row.id, row);
    this.#changed.add(row.id);
    this.#rows = null;
  }
}

/** The rows of a log, or of a part of it. */
export function foldRows(events: readonly UnknownRecord[]): readonly Row[] {
  const fold = new RowFold();
  fold.add(events);
  return fold.rows();
}

function outcomeOf(event: UnknownRecord): Outcome {
  const place = { id: textAt(event, "id"), at: textAt(event, "timestamp") };
  if (event["kind"] === "AgentErrorEvent") return { ...place, type: "failed", error: textAt(event, "error") };
  if (event["kind"] === "UserRejectObservation") {
    const by = event["rejection_source"] === "hook" ? "hook" : "user";
    return { ...place, type: "rejected", reason: textAt(event, "rejection_reason"), by };
  }
  const observation = recordAt(event, "observation") ?? {};
  const isCut = event["is_cut"] === true;
  return { ...place, type: "result", observation, isError: observation["is_error"] === true, isCut };
}
