import { awaiting } from "../engine/commands/approvals.ts";
import { ownBudget } from "../engine/budget.ts";
import { readConfig, unreadableConfig } from "../engine/read-config.ts";
import type { ConversationState } from "../engine/state/conversation-state.ts";
import { loadState } from "../engine/state/load-state.ts";
import { findRecordPlace, readOpenActions, toInstant } from "./inspection-actions.ts";
import { lineOfEvent } from "./inspection-events.ts";
import { DamagedEventError, type ConversationRow } from "../journal/journal.ts";
import { eventProblems, rowProblems } from "../journal/log-problems.ts";
import type { StoreFacts, StoreInspector } from "../journal/store-inspector.ts";
import { formatInstant } from "../lib/instant.ts";

/** What was read of one conversation. */
export type ReadParts = Awaited<ReturnType<typeof inspect>>;

/** One conversation as `convoke inspect --json` prints it; docs/guides/debug-a-conversation.md says what the fields mean. No secrets. */
export type Inspection = ReadParts & {
  /** Conclusions from the other parts, one sentence each. */
  readonly conclusions: readonly string[];
};

type Sources = {
  readonly store: StoreInspector;
  readonly row: ConversationRow;
  readonly facts: StoreFacts;
  readonly dataDir: string;
  readonly events: number;
};

export async function inspect({ store, row, facts, dataDir, events }: Sources) {
  const damages = [...rowProblems(row), ...(await logProblems(store, row))];
  const config = readConfig(row);
  if (config === null && damages.length === 0) damages.push("its configuration lacks what every one has.");
  const state = await fold(store, row);
  const newest = await store.readEach(row.id, Math.max(1, row.lastSeq - events + 1), row.lastSeq);
  const place = await findRecordPlace(row, facts, dataDir);
  return {
    id: row.id,
    inspected_at: formatInstant(Date.now() * 1000),
    row: {
      title: row.title,
      owner_id: row.ownerId,
      created_at: formatInstant(row.createdAtMicros),
      updated_at: formatInstant(row.updatedAtMicros),
      execution_status: row.executionStatus,
      /** True when a run resumes by itself after a restart. */
      is_active: row.isActive,
      /** A fork that does not have all its events yet. */
      is_copying: row.isCopying,
      is_archived: row.marks.isArchived,
      sandbox_id: row.sandboxId,
      parent_conversation_id: row.parentId,
      host: row.host,
      /** Null where it is damaged. */
      config,
      sizes: {
        events: row.lastSeq,
        event_bytes: facts.eventBytes,
        /** The size of the private facts beside events. */
        beside_bytes: facts.besideBytes,
        config_bytes: Buffer.byteLength(row.config),
        snapshot_bytes: Buffer.byteLength(row.snapshot ?? ""),
        sealed_secrets_bytes: Buffer.byteLength(row.sealedSecrets ?? ""),
      },
    },
    lease: {
      /** How often the lease was claimed. */
      generation: facts.generation,
      /** Null where nobody holds it. */
      node:
        facts.holder === null
          ? null
          : {
              id: facts.holder.nodeId,
              is_alive: facts.holder.isAlive,
              started_at: toInstant(facts.holder.startedAtMs),
              address: facts.holder.address,
              release: facts.holder.release,
            },
    },
    /** The fold of the log; null where a damaged event is in the way. */
    state: state === null ? null : await shownState(store, row, state),
    /** Calls without an answer in the log. */
    open_actions: state === null ? [] : await readOpenActions(state, row, { dataDir, place, damages }),
    /** Where the record of executions is. It is read only when it is here. */
    execution_record: place,
    /** Conversations of sub-agents. */
    parts: (await store.listParts(row.id)).map(({ id, status }) => ({ id, execution_status: status })),
    store: {
      log_number: facts.log,
      last_seq: row.lastSeq,
      /** The last event that the state in the row covers. */
      snapshot_seq: row.snapshotSeq,
      /** The last event with a stored checkpoint; null when the log could not be folded. */
      checkpoint_seq: state?.checkpointSeq ?? null,
      /** The last event in the text index; null without a readable index. */
      indexed_seq: facts.indexedSeq,
      /** The data folder of the last owner, when several share the store. */
      machine: facts.machine,
      damages,
    },
    /** The newest, in the order of the log. */
    events: newest.map(lineOfEvent),
  };
}

/** Every event is compared with its checksum. */
async function logProblems(store: StoreInspector, { id, lastSeq }: ConversationRow): Promise<string[]> {
  const problems: string[] = [];
  let before = "";
  for (let from = 1; from <= lastSeq; from += slice) {
    const events = await store.readEach(id, from, Math.min(lastSeq, from + slice - 1));
    problems.push(...eventProblems(events, before));
    before = events.at(-1)?.id ?? before;
  }
  return problems;
}

const slice = 512;

/** Null when a damaged event is in the log: the state must not be guessed. */
async function fold(store: StoreInspector, row: ConversationRow): Promise<ConversationState | null> {
  try {
    return await loadState(store, row);
  } catch (error) {
    // It is listed among the damages.
    if (error instanceof DamagedEventError) return null;
    throw error;
  }
}

async function shownState(store: StoreInspector, row: ConversationRow, state: ConversationState) {
  const { limit, spent } = ownBudget(readConfig(row) ?? unreadableConfig, state);
  const isUnfinished =
    row.isActive || state.status === "running" || state.status === "waiting_for_confirmation";
  const began = isUnfinished ? state.runStartSeq : 0;
  const [first] = began === 0 ? [] : await store.readEach(row.id, began, began);
  return {
    execution_status: state.status,
    last_event_id: state.lastId,
    /** A run that has not ended; null when there is none. */
    run: isUnfinished
      ? {
          began_seq: began === 0 ? null : began,
          began_at: first === undefined ? null : lineOfEvent(first).timestamp,
          model_answers: state.iterations,
          /** The message that requested a run that has not begun. */
          wanted_by_seq: state.runWantedSeq === 0 ? null : state.runWantedSeq,
          is_attended: state.isAttended,
          retry_until: state.retryUntil,
        }
      : null,
    approvals: {
      waiting: awaiting(state).map(({ id }) => id),
      deadline: toInstant(state.approvalDeadlineMs),
    },
    queued: [...state.queued, ...state.held.map((held) => ({ ...held, isFromUser: true }))].map(
      ({ id, seq, isFromUser, wantsRun }) => ({
        event_id: id,
        seq,
        is_from_user: isFromUser,
        wants_run: wantsRun,
      }),
    ),
    /** US dollars. */
    budget: { spent, limit },
    branch: { leaf_event_id: state.leafId, navigations: state.navigations.length },
    goal:
      state.goal?.active === true
        ? { objective: state.goal.objective, iteration: state.goal.iteration }
        : null,
    plan: state.plan,
  };
}
