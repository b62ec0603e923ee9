import { randomUUID } from "node:crypto";
import type { Transaction } from "kysely";
import type { ApplicationDatabase } from "../database/application-database.ts";
import type { Tables } from "../database/tables.ts";
import type { Clock } from "../lib/clock.ts";
import { nextUuid7 } from "../lib/uuid7.ts";
import { SealError, type SecretBox } from "../security/seal.ts";
import { activeStates, type Automation, type AutomationPlan, type AutomationRun } from "./automation.ts";
import { toAutomation, toDocument, toRun } from "./automation-rows.ts";
import { secretsIn, withSecret } from "./hook-secrets.ts";
import {
  keptRuns,
  type AutomationStore,
  type Decision,
  type DecisionBase,
  type NewRun,
  type Recorded,
  type RunChange,
} from "./automation-store.ts";

export type DatabaseAutomationStoreDeps = {
  readonly database: ApplicationDatabase;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
};

/** Automations in the application's tables, on every store. */
export class DatabaseAutomationStore implements AutomationStore {
  readonly #deps: DatabaseAutomationStoreDeps;
  #lastId: string | null = null;

  constructor(deps: DatabaseAutomationStoreDeps) {
    this.#deps = deps;
  }

  create: AutomationStore["create"] = async (ownerId, plan, { isPaused, nextDueMs }, hookSecret) => {
    const { database } = this.#deps;
    const nowMs = this.#deps.clock.nowMs();
    const values = {
      id: this.#nextId(nowMs),
      owner_id: ownerId,
      version: 1,
      kind: plan.trigger.kind,
      is_paused: isPaused ? 1 : 0,
      next_due_at: nextDueMs,
      document: toDocument(plan),
      sealed_hook_secret: this.#seal(hookSecret, null),
      created_at: nowMs,
      updated_at: nowMs,
    };
    const query = database.tables.insertInto("automations").values(values).returningAll();
    return toAutomation(await query.executeTakeFirstOrThrow());
  };

  find: AutomationStore["find"] = async (id) => {
    const query = this.#automations().where("id", "=", id);
    const [row] = await this.#deps.database.read(query);
    return row === undefined ? null : toAutomation(row);
  };

  count: AutomationStore["count"] = async (ownerId) => {
    const { database } = this.#deps;
    const query = database.tables
      .selectFrom("automations")
      .select(({ fn }) => fn.countAll<number | string>().as("count"))
      .where("owner_id", "=", ownerId);
    const [row] = await database.read(query);
    return Number(row?.count ?? 0);
  };

  list: AutomationStore["list"] = async (ownerId, { beforeId, limit }) => {
    let query = this.#automations().where("owner_id", "=", ownerId).orderBy("id", "desc").limit(limit);
    if (beforeId !== null) query = query.where("id", "<", beforeId);
    return (await this.#deps.database.read(query)).map(toAutomation);
  };

  ofKind: AutomationStore["ofKind"] = async (kind) => {
    const query = this.#automations().where("kind", "=", kind).where("is_paused", "=", 0).orderBy("id");
    return (await this.#deps.database.read(query)).map(toAutomation);
  };

  change: AutomationStore["change"] = async (id, version, { hookSecret, isPaused, nextDueMs, ...plan }) => {
    const { database, clock } = this.#deps;
    return await database.transaction(async (tables) => {
      const query = tables.selectFrom("automations").selectAll().where("id", "=", id);
      const row = await query.where("version", "=", version).executeTakeFirst();
      if (row === undefined) return null;
      const changed: AutomationPlan = { ...toAutomation(row), ...plan };
      const updated = await tables
        .updateTable("automations")
        .set({
          version: version + 1,
          kind: changed.trigger.kind,
          document: toDocument(changed),
          updated_at: clock.nowMs(),
          ...(isPaused === undefined ? {} : { is_paused: isPaused ? 1 : 0 }),
          ...(nextDueMs === undefined ? {} : { next_due_at: nextDueMs }),
          ...(hookSecret === undefined
            ? {}
            : { sealed_hook_secret: this.#seal(hookSecret, this.#open(row.sealed_hook_secret)) }),
        })
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirstOrThrow();
      return toAutomation(updated);
    });
  };

  delete: AutomationStore["delete"] = async (id) =>
    await this.#deps.database.transaction(async (tables) => {
      await tables.deleteFrom("automation_runs").where("automation_id", "=", id).execute();
      await tables.deleteFrom("automation_deliveries").where("automation_id", "=", id).execute();
      const query = tables.deleteFrom("automations").where("id", "=", id);
      return (await query.executeTakeFirstOrThrow()).numDeletedRows > 0n;
    });

  hookSecrets: AutomationStore["hookSecrets"] = async (id) => {
    const query = this.#automations().where("id", "=", id);
    const text = this.#open((await this.#deps.database.read(query))[0]?.sealed_hook_secret ?? null);
    return text === null ? [] : secretsIn(text, this.#deps.clock.nowMs());
  };

  due: AutomationStore["due"] = async (atMs, limit) => {
    const query = this.#automations().where("next_due_at", "<=", atMs).orderBy("next_due_at").limit(limit);
    return (await this.#deps.database.read(query)).map(toAutomation);
  };

  earliestDueMs: AutomationStore["earliestDueMs"] = async () => {
    const query = this.#automations().where("next_due_at", "is not", null).orderBy("next_due_at").limit(1);
    return (await this.#deps.database.read(query))[0]?.next_due_at ?? null;
  };

  record: AutomationStore["record"] = async (id, nodeId, decide) =>
    await this.#deps.database.transaction(async (tables) => {
      const base = await readBase(tables, id);
      const decision = base === null ? null : decide(base);
      if (base === null || decision === null) return null;
      return await this.#store(tables, base.automation, nodeId, decision);
    });

  findRun: AutomationStore["findRun"] = async (id) => {
    const [row] = await this.#deps.database.read(this.#runs().where("id", "=", id));
    return row === undefined ? null : toRun(row);
  };

  runs: AutomationStore["runs"] = async (automationId, { beforeId, limit, state }) => {
    let query = this.#runs().where("automation_id", "=", automationId).orderBy("id", "desc").limit(limit);
    if (beforeId !== null) query = query.where("id", "<", beforeId);
    if (state !== null) query = query.where("state", "=", state);
    return (await this.#deps.database.read(query)).map(toRun);
  };

  runsIn: AutomationStore["runsIn"] = async (state, { afterId, limit }) => {
    let query = this.#runs().where("state", "=", state).orderBy("id").limit(limit);
    if (afterId !== null) query = query.where("id", ">", afterId);
    return (await this.#deps.database.read(query)).map(toRun);
  };

  changeRun: AutomationStore["changeRun"] = async (id, from, change) => {
    const query = this.#deps.database.tables
      .updateTable("automation_runs")
      .set(toRunUpdate(change))
      .where("id", "=", id)
      .where("state", "in", [...from]);
    return (await query.executeTakeFirstOrThrow()).numUpdatedRows > 0n;
  };

  async #store(
    tables: Transaction<Tables>,
    automation: Automation,
    nodeId: string,
    { runs, replaced, claimed, nextDueMs }: Decision,
  ): Promise<Recorded> {
    const nowMs = this.#deps.clock.nowMs();
    if (nextDueMs !== automation.nextDueMs)
      await tables
        .updateTable("automations")
        .set({ next_due_at: nextDueMs })
        .where("id", "=", automation.id)
        .execute();
    if (replaced.length > 0)
      await tables
        .updateTable("automation_runs")
        .set({ state: "replaced", reason: "A later run took its place." })
        .where("id", "in", [...replaced])
        .execute();
    const fresh: AutomationRun[] = [];
    const known: AutomationRun[] = [];
    for (const id of claimed) {
      const query = tables
        .updateTable("automation_runs")
        .set({ state: "claimed", node_id: nodeId })
        .where("id", "=", id);
      fresh.push(toRun(await query.returningAll().executeTakeFirstOrThrow()));
    }
    for (const run of runs) {
      const query = tables
        .insertInto("automation_runs")
        .values(this.#toRow(automation.id, nodeId, run, nowMs));
      const row = await query
        .onConflict((conflict) => conflict.columns(["automation_id", "due_key"]).doNothing())
        .returningAll()
        .executeTakeFirst();
      if (row !== undefined) fresh.push(toRun(row));
      else known.push(await findByKey(tables, automation.id, run.dueKey));
    }
    if (fresh.length > 0) await removeOldest(tables, automation.id);
    return { runs: fresh, known };
  }

  #toRow(automationId: string, nodeId: string, run: NewRun, nowMs: number) {
    return {
      id: this.#nextId(nowMs),
      automation_id: automationId,
      due_key: run.dueKey,
      origin: run.origin,
      state: run.state,
      reason: run.reason ?? null,
      due_at: run.dueAtMs,
      last_due_at: run.lastDueAtMs ?? null,
      count: run.count ?? 1,
      conversation_id: run.state === "skipped" ? null : randomUUID(),
      payload: run.payload ?? null,
      node_id: run.state === "claimed" ? nodeId : null,
      attempts: 0,
      created_at: nowMs,
      started_at: null,
      ended_at: run.state === "skipped" ? nowMs : null,
    };
  }

  #nextId(nowMs: number): string {
    return (this.#lastId = nextUuid7(this.#lastId, nowMs));
  }

  #seal(secret: string | null, before: string | null): string | null {
    const { secretBox, clock } = this.#deps;
    return secret === null ? null : secretBox.seal(withSecret(secret, before, clock.nowMs()));
  }

  #open(sealed: string | null): string | null {
    if (sealed === null) return null;
    try {
      return this.#deps.secretBox.unseal(sealed);
    } catch (error) {
      // Of another master key: the owner has to set the secret again.
      if (error instanceof SealError) return null;
      throw error;
    }
  }

  #automations() {
    return this.#deps.database.tables.selectFrom("automations").selectAll();
  }

  #runs() {
    return this.#deps.database.tables.selectFrom("automation_runs").selectAll();
  }
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

async function findByKey(tables: Transaction<Tables>, automationId: string, dueKey: string) {
  const query = tables.selectFrom("automation_runs").selectAll().where("automation_id", "=", automationId);
  return toRun(await query.where("due_key", "=", dueKey).executeTakeFirstOrThrow());
}

async function removeOldest(tables: Transaction<Tables>, automationId: string): Promise<void> {
  const [last] = await tables
    .selectFrom("automation_runs")
    .select("id")
    .where("automation_id", "=", automationId)
    .orderBy("id", "desc")
    .offset(keptRuns)
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

function toRunUpdate({ state, reason, nodeId, attempts, startedAtMs, endedAtMs }: RunChange) {
  return {
    ...(state === undefined ? {} : { state }),
    ...(reason === undefined ? {} : { reason }),
    ...(nodeId === undefined ? {} : { node_id: nodeId }),
    ...(attempts === undefined ? {} : { attempts }),
    ...(startedAtMs === undefined ? {} : { started_at: startedAtMs }),
    ...(endedAtMs === undefined ? {} : { ended_at: endedAtMs }),
  };
}
