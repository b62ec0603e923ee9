import { randomUUID } from "node:crypto";
import type { Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { activeStates, type Automation, type AutomationRun } from "./automation.ts";
import { toAutomation, toRun } from "./automation-rows.ts";
import {
  maxStoredRuns,
  type Decision,
  type DecisionBase,
  type NewRun,
  type Recorded,
} from "./automation-store.ts";

export type RecordContext = {
  readonly nodeId: string;
  readonly nowMs: number;
  readonly nextId: (nowMs: number) => string;
};

/** See `AutomationStore.record`. */
export async function recordDecision(
  tables: Transaction<Tables>,
  id: string,
  decide: (base: DecisionBase) => Decision | null,
  context: RecordContext,
): Promise<Recorded | null> {
  const base = await readBase(tables, id);
  const decision = base === null ? null : decide(base);
  if (base === null || decision === null) return null;
  await moveDueTime(tables, base.automation, decision.nextDueMs);
  const runs: AutomationRun[] = [];
  const known: AutomationRun[] = [];
  for (const queued of decision.claimed) runs.push(await claim(tables, queued, context.nodeId));
  for (const run of decision.runs) {
    const stored = await insert(tables, id, run, context);
    if (stored !== null) runs.push(stored);
    else known.push(await findByKey(tables, id, run.dueKey));
  }
  // Where the key of a new run exists, nothing takes the place of the active ones.
  if (runs.some(({ state }) => state !== "skipped")) await replace(tables, decision.replaced);
  if (runs.length > 0) await removeOldest(tables, id);
  return { runs, known };
}

async function readBase(tables: Transaction<Tables>, id: string): Promise<DecisionBase | null> {
  const row = await tables.selectFrom("automations").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) return null;
  const active = await tables
    .selectFrom("automation_runs")
    .selectAll()
    .where("automation_id", "=", id)
    .where("state", "in", [...activeStates])
    .orderBy("id")
    .execute();
  return { automation: toAutomation(row), active: active.map(toRun) };
}

async function moveDueTime(
  tables: Transaction<Tables>,
  { id, nextDueMs: before }: Automation,
  nextDueMs: number | null,
): Promise<void> {
  if (nextDueMs === before) return;
  await tables.updateTable("automations").set({ next_due_at: nextDueMs }).where("id", "=", id).execute();
}

async function replace(tables: Transaction<Tables>, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tables
    .updateTable("automation_runs")
    .set({ state: "replaced", reason: "A later run took its place." })
    .where("id", "in", [...ids])
    .execute();
}

async function claim(tables: Transaction<Tables>, id: string, nodeId: string): Promise<AutomationRun> {
  const query = tables
    .updateTable("automation_runs")
    .set({ state: "claimed", node_id: nodeId })
    .where("id", "=", id);
  return toRun(await query.returningAll().executeTakeFirstOrThrow());
}

/** Null where its key has a run. */
async function insert(
  tables: Transaction<Tables>,
  automationId: string,
  run: NewRun,
  { nodeId, nowMs, nextId }: RecordContext,
): Promise<AutomationRun | null> {
  const isSkipped = run.state === "skipped";
  const values = {
    id: nextId(nowMs),
    automation_id: automationId,
    due_key: run.dueKey,
    origin: run.origin,
    state: run.state,
    reason: run.reason ?? null,
    due_at: run.dueAtMs,
    last_due_at: run.lastDueAtMs ?? null,
    count: run.count ?? 1,
    conversation_id: isSkipped ? null : randomUUID(),
    payload: run.payload ?? null,
    node_id: run.state === "claimed" ? nodeId : null,
    attempts: 0,
    created_at: nowMs,
    started_at: null,
    ended_at: isSkipped ? nowMs : null,
  };
  const row = await tables
    .insertInto("automation_runs")
    .values(values)
    .onConflict((conflict) => conflict.columns(["automation_id", "due_key"]).doNothing())
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? null : toRun(row);
}

async function findByKey(
  tables: Transaction<Tables>,
  automationId: string,
  dueKey: string,
): Promise<AutomationRun> {
  const query = tables.selectFrom("automation_runs").selectAll().where("automation_id", "=", automationId);
  return toRun(await query.where("due_key", "=", dueKey).executeTakeFirstOrThrow());
}

/** Active runs stay however many there are. */
async function removeOldest(tables: Transaction<Tables>, automationId: string): Promise<void> {
  const [last] = await tables
    .selectFrom("automation_runs")
    .select("id")
    .where("automation_id", "=", automationId)
    .orderBy("id", "desc")
    .offset(maxStoredRuns)
    .limit(1)
    .execute();
  if (last === undefined) return;
  await tables
    .deleteFrom("automation_runs")
    .where("automation_id", "=", automationId)
    .where("id", "<=", last.id)
    .where("state", "not in", [...activeStates])
    .execute();
}
