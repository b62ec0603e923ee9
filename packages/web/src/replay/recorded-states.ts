import { asRecord, textAt, type UnknownRecord } from "@convoke/client/view";

/** Kinds of events that answer an action, which names it in `action_id`. */
const answers: ReadonlySet<string> = new Set([
  "ObservationEvent",
  "UserRejectObservation",
  "AgentErrorEvent",
]);

/** The state before the first event. */
const unsaid = { execution_status: "idle", stats: { usage_to_metrics: {} } };

/** Events between two checkpoints. */
const step = 1_000;

type Fold = {
  readonly conversation: Record<string, unknown>;
  /** Actions without an answer, by id. */
  readonly open: Map<string, UnknownRecord>;
};

/**
 * The state of a conversation at each event, folded from the checkpoint before it, so that any position costs the
 * same.
 */
export class RecordedStates {
  readonly #events: readonly UnknownRecord[];
  /** Checkpoints: the state after each multiple of `step` events, created on demand and immutable. */
  readonly #checkpoints: Fold[];

  constructor(info: UnknownRecord, events: readonly UnknownRecord[]) {
    this.#events = events;
    this.#checkpoints = [{ conversation: { ...info, ...unsaid }, open: new Map() }];
  }

  /** The state after `count` events, as the server would return it. */
  at(count: number): UnknownRecord {
    const { conversation, open } = this.#foldTo(count);
    const isWaiting = conversation["execution_status"] === "waiting_for_confirmation";
    const actions = [...open.values()].map((action) => ({
      action_id: textAt(action, "id"),
      tool_name: textAt(action, "tool_name"),
      is_waiting: isWaiting,
    }));
    return { conversation, open_actions: actions };
  }

  #foldTo(count: number): Fold {
    const last = Math.floor(count / step);
    while (this.#checkpoints.length <= last) {
      const start = (this.#checkpoints.length - 1) * step;
      this.#checkpoints.push(folded(this.#checkpoints.at(-1)!, this.#events.slice(start, start + step)));
    }
    return folded(this.#checkpoints[last]!, this.#events.slice(last * step, count));
  }
}

function folded(before: Fold, events: readonly UnknownRecord[]): Fold {
  const { conversation, open } = { conversation: { ...before.conversation }, open: new Map(before.open) };
  for (const event of events) {
    const kind = textAt(event, "kind");
    if (kind === "ActionEvent") open.set(textAt(event, "id"), event);
    else if (answers.has(kind)) open.delete(textAt(event, "action_id"));
    else if (kind === "ConversationStateUpdateEvent") takeUpdate(conversation, event);
  }
  return { conversation, open };
}

function takeUpdate(conversation: Record<string, unknown>, event: UnknownRecord): void {
  const key = textAt(event, "key");
  if (key === "full_state") Object.assign(conversation, asRecord(event["value"]));
  else conversation[key] = event["value"];
}
