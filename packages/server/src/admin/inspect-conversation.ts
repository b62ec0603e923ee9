import { access } from "node:fs/promises";
import { join } from "node:path";
import { awaiting } from "../engine/commands/approvals.ts";
import { ownBudget } from "../engine/budget.ts";
import { readConfig as readStoredConfig, unreadableConfig } from "../engine/read-config.ts";
import type { ConversationState } from "../engine/state/conversation-state.ts";
import { loadState } from "../engine/state/load-state.ts";
import { ConfigError } from "../boot/config.ts";
import { checkFolderStore } from "../database/data-folder-store.ts";
import type { DatabasePlace } from "../database/open-application-database.ts";
import { findRecordPlace, readOpenActions, toInstant } from "./inspection-actions.ts";
import { waitUntilReadable, type WaitOptions } from "./wait-until-readable.ts";
import { concludeInspection } from "./inspection-conclusions.ts";
import { lineOfEvent } from "./inspection-events.ts";
import type { Inspection } from "./inspection.ts";
import { DamagedEventError, type ConversationRow } from "../journal/journal.ts";
import { eventProblems, rowProblems } from "../journal/log-problems.ts";
import { openSqliteInspector } from "../journal/sqlite/sqlite-inspector.ts";
import type { StoreFacts, StoreInspector } from "../journal/store-inspector.ts";
import { formatInstant } from "../lib/instant.ts";
import { normalizeUuid } from "../lib/uuid7.ts";

export { ConfigError, readConfig } from "../boot/config.ts";
export type { InspectedAction, InspectedEvent, Inspection } from "./inspection.ts";

export type InspectDeps = DatabasePlace & {
  /** An id, or the beginning of one. */
  readonly conversation: string;
  /** How many of the newest events to include. */
  readonly events: number;
  /** For a store that another process keeps locked. */
  readonly wait: WaitOptions;
};

export type Inspected =
  | { readonly type: "found"; readonly inspection: Inspection }
  | { readonly type: "missing" }
  /** Some of the ids with that beginning. */
  | { readonly type: "ambiguous"; readonly ids: readonly string[] };

/** Reads one conversation from its store, also while servers use it. Changes nothing and takes no lease. */
export async function inspectConversation({
  dataDir,
  database,
  conversation,
  events,
  wait,
}: InspectDeps): Promise<Inspected> {
  const beginning = toBeginning(conversation);
  if (beginning === null) return { type: "missing" };
  await using store = await openInspector({ dataDir, database }, wait);
  const ids = await store.findIds(beginning, shownIds);
  if (ids.length > 1) return { type: "ambiguous", ids };
  const [id] = ids;
  const row = id === undefined ? null : await store.getConversation(id);
  const facts = row === null ? null : await store.facts(row.id);
  // Deleted since it was found.
  if (row === null || facts === null) return { type: "missing" };
  return { type: "found", inspection: await inspect({ store, row, facts, dataDir, events }) };
}

const shownIds = 6;

async function openInspector(
  { dataDir, database }: DatabasePlace,
  wait: WaitOptions,
): Promise<StoreInspector> {
  if (database !== null) {
    const [{ inspectPostgres }, { openPostgresInspector }] = await Promise.all([
      import("../database/postgres/check-postgres.ts"),
      import("../journal/postgres/postgres-inspector.ts"),
    ]);
    // Reports why the database is unreachable. A standby, or a read-only role, is enough.
    await inspectPostgres(database);
    return await openPostgresInspector(database);
  }
  try {
    await access(dataDir);
  } catch (error) {
    throw new ConfigError(`There is no data folder ${dataDir}. Name it with --data-dir.`, { cause: error });
  }
  await checkFolderStore(dataDir, null);
  await waitUntilReadable(join(dataDir, "journal.db"), wait);
  return openSqliteInspector(dataDir);
}

/** Lower case with dashes, as ids are stored; null when no id can begin like this. */
function toBeginning(text: string): string | null {
  const whole = normalizeUuid(text);
  if (whole !== null) return whole;
  const hex = text.toLowerCase().replaceAll("-", "");
  if (!/^[0-9a-f]{1,32}$/.test(hex)) return null;
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)]
    .filter((part) => part !== "")
    .join("-");
}

type Sources = {
  readonly store: StoreInspector;
  readonly row: ConversationRow;
  readonly facts: StoreFacts;
  readonly dataDir: string;
  readonly events: number;
};

async function inspect({ store, row, facts, dataDir, events }: Sources): Promise<Inspection> {
  const damages = [...rowProblems(row), ...(await logProblems(store, row))];
  const config = readStoredConfig(row);
  if (config === null && damages.length === 0) damages.push("its configuration lacks what every one has.");
  const state = await fold(store, row);
  const newest = await store.readEach(row.id, Math.max(1, row.lastSeq - events + 1), row.lastSeq);
  const place = await findRecordPlace(row, facts, dataDir);
  const found: Omit<Inspection, "conclusions"> = {
    id: row.id,
    inspected_at: formatInstant(Date.now() * 1000),
    row: {
      title: row.title,
      owner_id: row.ownerId,
      created_at: formatInstant(row.createdAtMicros),
      updated_at: formatInstant(row.updatedAtMicros),
      execution_status: row.executionStatus,
      is_active: row.isActive,
      is_copying: row.isCopying,
      is_archived: row.marks.isArchived,
      sandbox_id: row.sandboxId,
      parent_conversation_id: row.parentId,
      host: row.host,
      config,
      sizes: {
        events: row.lastSeq,
        event_bytes: facts.eventBytes,
        beside_bytes: facts.besideBytes,
        config_bytes: Buffer.byteLength(row.config),
        snapshot_bytes: Buffer.byteLength(row.snapshot ?? ""),
        sealed_secrets_bytes: Buffer.byteLength(row.sealedSecrets ?? ""),
      },
    },
    lease: {
      generation: facts.generation,
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
    state: state === null ? null : await shownState(store, row, state),
    open_actions: state === null ? [] : await readOpenActions(state, row, { dataDir, place, damages }),
    execution_record: place,
    parts: (await store.listParts(row.id)).map(({ id, status }) => ({ id, execution_status: status })),
    store: {
      log_number: facts.log,
      last_seq: row.lastSeq,
      snapshot_seq: row.snapshotSeq,
      checkpoint_seq: state?.checkpointSeq ?? null,
      indexed_seq: facts.indexedSeq,
      machine: facts.machine,
      damages,
    },
    events: newest.map(lineOfEvent),
  };
  return { ...found, conclusions: concludeInspection(found) };
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

async function shownState(
  store: StoreInspector,
  row: ConversationRow,
  state: ConversationState,
): Promise<NonNullable<Inspection["state"]>> {
  const { limit, spent } = ownBudget(readStoredConfig(row) ?? unreadableConfig, state);
  const isUnfinished =
    row.isActive || state.status === "running" || state.status === "waiting_for_confirmation";
  const began = isUnfinished ? state.runStartSeq : 0;
  const [first] = began === 0 ? [] : await store.readEach(row.id, began, began);
  return {
    execution_status: state.status,
    last_event_id: state.lastId,
    run: isUnfinished
      ? {
          began_seq: began === 0 ? null : began,
          began_at: first === undefined ? null : lineOfEvent(first).timestamp,
          model_answers: state.iterations,
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
    budget: { spent, limit },
    branch: { leaf_event_id: state.leafId, navigations: state.navigations.length },
    goal:
      state.goal?.active === true
        ? { objective: state.goal.objective, iteration: state.goal.iteration }
        : null,
    plan: state.plan,
  };
}
