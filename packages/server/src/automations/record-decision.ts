import { randomUUID } from "node:crypto";
import type { Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { activeStates, type AutomationRun } from "./automation.ts";
import { toAutomation, toRun } from "./automation-rows.ts";
import { maxStoredRuns, type Decision, type DecisionBase, type NewRun, type Recorded } from "./decision.ts";
import { changeRows, removalBeyond, rowsWith } from "../database/rows.ts";
import type { Wanted } from "../database/rows.ts";

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
  const { nextDueMs } = decision;
  if (nextDueMs !== base.automation.nextDueMs)
    await changeRows(tables, "automations", { id }, { next_due_at: nextDueMs });
  const runs: AutomationRun[] = [];
  const known: AutomationRun[] = [];
  for (const queued of decision.claimed) runs.push(await claim(tables, queued, context.nodeId));
  for (const run of decision.runs) {
    const stored = await insert(tables, id, run, context);
    if (stored !== null) runs.push(stored);
    else known.push(await findRun(tables, { automation_id: id, due_key: run.dueKey }));
  }
  // Where the key of a new run exists, nothing takes the place of the active ones.
  if (runs.some(({ state }) => state !== "skipped")) await replace(tables, decision.replaced);
  if (runs.length > 0) await removeOldest(tables, id);
  return { runs, known };
}

async function readBase(tables: Transaction<Tables>, id: string): Promise<DecisionBase | null> {
  const row = await rowsWith(tables, "automations", { id }).executeTakeFirst();
  if (row === undefined) return null;
  const wanted = { automation_id: id, state: activeStates };
  const active = await rowsWith(tables, "automation_runs", wanted).orderBy("id").execute();
  return { automation: toAutomation(row), active: active.map(toRun) };
}

async function replace(tables: Transaction<Tables>, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const change = { state: "replaced", reason: "A later run took its place." };
  await changeRows(tables, "automation_runs", { id: ids }, change);
}

async function claim(tables: Transaction<Tables>, id: string, nodeId: string): Promise<AutomationRun> {
  await changeRows(tables, "automation_runs", { id }, { state: "claimed", node_id: nodeId });
  return await findRun(tables, { id });
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

async function findRun(
  tables: Transaction<Tables>,
  wanted: Wanted<"automation_runs">,
): Promise<AutomationRun> {
  return toRun(await rowsWith(tables, "automation_runs", wanted).executeTakeFirstOrThrow());
}

/** Active runs stay however many there are. */
async function removeOldest(tables: Transaction<Tables>, automationId: string): Promise<void> {
  const newest = { column: "id", max: maxStoredRuns } as const;
  await removalBeyond(tables, "automation_runs", { automation_id: automationId }, newest)
    .where("state", "not in", [...activeStates])
    .execute();
}
