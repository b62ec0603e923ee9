import type { ConversationExecutionStatus } from "@convoke/protocol";
import { isOnPath, pathTo, type Navigation } from "../agent/branches.ts";
import { headOf, initialState, type ConversationState } from "../engine/state/conversation-state.ts";
import { applyEvent } from "../engine/state/fold.ts";
import { writeSnapshot } from "../engine/state/load-state.ts";
import { agentError } from "../events/call-answers.ts";
import { stampDrafts, type EventDraft } from "../events/event-draft.ts";
import { parseStored } from "../events/parse-stored.ts";
import { stateUpdate, statusUpdate } from "../events/state-update.ts";
import type { Journal, NewConversation, NewEvent } from "../journal/journal.ts";
import type { Clock } from "../lib/clock.ts";
import { claimNew } from "./claim-new.ts";

/** The log of another server, in the form of this one. */
export type ImportedLog = {
  /** In order; may be read more than once. */
  readonly events: () => AsyncIterable<NewEvent>;
  readonly count: number;
  /** Null where the log has no branches. */
  readonly branch: { readonly jumps: readonly Navigation[]; readonly toSeq: number } | null;
  /** How the conversation stood there; what was in progress is not in progress here. */
  readonly status: string | null;
  /** What the last event says about the import. */
  readonly note: object;
};

export type ImportDeps = {
  readonly journal: Pick<
    Journal,
    "append" | "claim" | "createConversation" | "deleteConversation" | "release"
  >;
  readonly clock: Clock;
};

export type ImportTimes = Pick<NewConversation, "createdAtMicros" | "updatedAtMicros">;

const chunk = 500;
const atRest = new Set<string>(["idle", "paused", "finished", "error", "stuck"]);

/**
 * Stores a conversation with a log that was written elsewhere. Behind it come, as events of this server: an error for each call that
 * has no result, the status where it changes, and a note of the import. The conversation is hidden until that, and a process that ends
 * before leaves nothing of it. False if the id is taken.
 */
export async function importLog(deps: ImportDeps, row: NewConversation, log: ImportedLog): Promise<boolean> {
  const { clock, journal } = deps;
  if (!(await journal.createConversation({ ...row, isActive: true, isCopying: true }))) return false;
  const lease = await claimNew(journal, row.id);
  try {
    const folded = await appendEvents(deps, row.id, lease, log);
    const drafts = endOf(folded, log);
    const stamped = stampDrafts(drafts, folded.state, clock.nowMs(), (json) => json);
    for (const { seq, event, meta } of stamped) applyEvent(folded.state, { seq, event, meta });
    const last = stamped.at(-1)!.record;
    folded.state.lastMicros = last.timestampMicros;
    await journal.append(lease, {
      expectedSeq: log.count,
      events: stamped.map(({ record }) => record),
      conversation: {
        isActive: false,
        isCopying: false,
        executionStatus: folded.state.status,
        updatedAtMicros: row.updatedAtMicros,
        snapshot: writeSnapshot(folded.state),
        snapshotSeq: folded.state.lastSeq,
      },
    });
  } catch (error) {
    await journal.deleteConversation(lease);
    throw error;
  }
  await journal.release(lease);
  return true;
}

type Folded = { readonly state: ConversationState; readonly branch: ConversationState };

async function appendEvents(
  { journal }: ImportDeps,
  id: string,
  lease: Awaited<ReturnType<Journal["claim"]>>,
  log: ImportedLog,
): Promise<Folded> {
  const folded = { state: initialState(), branch: initialState() };
  const path = log.branch === null ? [] : pathTo(log.branch.jumps, log.branch.toSeq);
  let events: NewEvent[] = [];
  let seq = 0;
  const flush = async (): Promise<void> => {
    if (events.length > 0) await journal.append(lease, { expectedSeq: seq - events.length, events });
    events = [];
  };
  for await (const event of log.events()) {
    seq += 1;
    const item = parseStored(id, { seq, ...event });
    applyEvent(folded.state, item);
    folded.state.lastMicros = event.timestampMicros;
    if (isOnPath(path, seq)) applyEvent(folded.branch, item);
    events.push(event);
    if (events.length === chunk) await flush();
  }
  await flush();
  if (seq !== log.count) throw new Error(`${log.count} events were announced, and ${seq} came.`);
  return folded;
}

function endOf({ state, branch }: Folded, log: ImportedLog): EventDraft[] {
  const status = (atRest.has(log.status ?? "") ? log.status : "idle") as ConversationExecutionStatus;
  const changed = state.status === status ? [] : [statusUpdate(status)];
  const note = stateUpdate("imported", log.note);
  const answer = (action: ConversationState["openActions"][number]): EventDraft => agentError(action, notRun);
  if (log.branch === null) return [...state.openActions.map(answer), ...changed, note];
  const open = new Set(state.openActions.map(({ id }) => id));
  const here = branch.openActions.filter(({ id }) => open.has(id));
  const elsewhere = state.openActions.filter(({ id }) => !here.some((action) => action.id === id));
  const head = { ...headOf(branch), openActions: here, responseSchema: null, refusedAnswers: 0 };
  return [
    ...elsewhere.map(answer),
    ...changed,
    { ...stateUpdate("leaf_event_id", head.leafId), meta: { navigation: { ...log.branch, head } } },
    ...here.map(answer),
    note,
  ];
}

const notRun = "This call had no result when the conversation was imported. It was not run here.";
