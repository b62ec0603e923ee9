import type { InspectedAction } from "./inspection-actions.ts";
import type { ReadParts as Found } from "./inspection.ts";

/** Conclusions from all parts of an inspection: what the conversation waits for, and who has to act. */
export function concludeInspection(found: Found): string[] {
  const { store, state } = found;
  const damaged =
    store.damages.length === 0
      ? []
      : [
          `${count(store.damages.length, "damage")} ${store.damages.length === 1 ? "was" : "were"} found. Undamaged data is served; restore a backup into another folder to have the rest back.`,
        ];
  if (state === null)
    return [
      ...damaged,
      "The log cannot be folded, so nothing runs here. It can be read, exported and deleted.",
    ];
  return [...damaged, ...(found.row.is_copying ? [copying] : []), ...ofWork(found, state)];
}

const copying = "It is a fork without all its events: the copy is in progress, or was aborted.";

function ofWork(found: Found, state: NonNullable<Found["state"]>): string[] {
  const { waiting, deadline } = state.approvals;
  const answers = [
    ...budgetSentence(state.budget),
    ...(waiting.length > 0
      ? [
          `It waits for a person to accept or reject ${count(waiting.length, "call")}${deadline === null ? "" : `, until ${deadline}`}.`,
        ]
      : []),
  ];
  const { node } = found.lease;
  const isAtWork = found.row.is_active || state.execution_status === "running";
  if (!isAtWork)
    return [...answers, ...ofRest(state), ...found.open_actions.flatMap(ofAction(node?.is_alive === true))];
  if (node === null)
    return [
      ...answers,
      "It is active and no server owns it. A running server on this store takes it over within seconds, or the next start does.",
      ...found.open_actions.flatMap(ofAction(false)),
    ];
  if (!node.is_alive)
    return [
      ...answers,
      "The server that owned it has died. Another server on this store takes it over within seconds, or the next start does.",
      ...found.open_actions.flatMap(ofAction(false)),
    ];
  return [...answers, ...ofRun(found, state)];
}

/** A living server works on it. */
function ofRun(found: Found, state: NonNullable<Found["state"]>): string[] {
  const calls = found.open_actions.filter(({ is_waiting }) => !is_waiting);
  if (calls.length > 0) return calls.flatMap(ofAction(true));
  const parts = found.parts.filter(({ execution_status }) => execution_status !== "finished");
  const retryUntil = state.run?.retry_until ?? null;
  if (retryUntil !== null) return [`A model call failed; the next try is at ${retryUntil}.`];
  if (state.approvals.waiting.length > 0) return [];
  return [
    parts.length > 0
      ? `A server works on it, and ${count(parts.length, "conversation")} of sub-agents ${parts.length === 1 ? "has" : "have"} not finished: inspect ${parts.length === 1 ? "it" : "those"} too.`
      : "A server works on it, and no call is open: it waits for the model, for a hook, or for its turn.",
  ];
}

function ofRest({ execution_status: status, queued }: NonNullable<Found["state"]>): string[] {
  const own = queued.filter(({ is_from_user }) => is_from_user);
  const waiting =
    own.length === 0
      ? []
      : [`The model has not read ${count(own.length, "message")}: a run has to be started.`];
  return status === "waiting_for_confirmation"
    ? waiting
    : [...waiting, `No run is in progress; its status is ${status}.`];
}

function ofAction(isHeld: boolean): (action: InspectedAction) => string[] {
  return ({ tool_name: tool, tool_call_id: call, execution, started_at: since, is_waiting: isWaiting }) => {
    const name = `The call ${call} of ${tool}`;
    if (isWaiting) return [];
    switch (execution) {
      case "started":
        return [
          isHeld
            ? `${name} runs${since === null ? "" : ` since ${since}`}.`
            : `${name} had begun${since === null ? "" : ` at ${since}`}, and nobody knows its outcome. It is not run again: the next server tells the model so.`,
        ];
      case "ended":
        return [
          `${name} has ended, and its result is not in the log${isHeld ? " yet" : ": the next server puts it there"}.`,
        ];
      case "announced":
        return [`${name} has not begun.`];
      case "none":
        return [
          `${name} has no record: it has not begun, or its tool keeps none (one that only reads, a client's, a sub-agent's).`,
        ];
      case "unknown":
        return [`Whether ${name.replace("The", "the")} has begun is in a record that cannot be read here.`];
    }
  };
}

function budgetSentence({
  spent,
  limit,
}: {
  readonly spent: number;
  readonly limit: number | null;
}): string[] {
  return limit === null || spent < limit
    ? []
    : [`Its budget is spent: ${spent.toFixed(4)} of ${limit} US dollars.`];
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
