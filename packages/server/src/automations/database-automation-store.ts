import type { ApplicationDatabase } from "../database/application-database.ts";
import type { Clock } from "../lib/clock.ts";
import { nextUuid7 } from "../lib/uuid7.ts";
import { SealError, type SecretBox } from "../security/seal.ts";
import type { AutomationPlan } from "./automation.ts";
import { toAutomation, toDocument, toRun } from "./automation-rows.ts";
import type { AutomationStore, RunChange } from "./automation-store.ts";
import { secretsIn, withSecret } from "./hook-secrets.ts";
import { recordDecision } from "./record-decision.ts";

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

  record: AutomationStore["record"] = async (id, nodeId, decide) => {
    const { database, clock } = this.#deps;
    const context = { nodeId, nowMs: clock.nowMs(), nextId: (nowMs: number) => this.#nextId(nowMs) };
    return await database.transaction((tables) => recordDecision(tables, id, decide, context));
  };

  findRun: AutomationStore["findRun"] = async (id) => {
    const [row] = await this.#deps.database.read(this.#runs().where("id", "=", id));
    return row === undefined ? null : toRun(row);
  };

  findRunOf: AutomationStore["findRunOf"] = async (conversationId) => {
    const [row] = await this.#deps.database.read(this.#runs().where("conversation_id", "=", conversationId));
    return row === undefined ? null : toRun(row);
  };

  runs: AutomationStore["runs"] = async (automationId, { beforeId, limit, state }) => {
    let query = this.#runs().where("automation_id", "=", automationId).orderBy("id", "desc").limit(limit);
    if (beforeId !== null) query = query.where("id", "<", beforeId);
    if (state !== null) query = query.where("state", "=", state);
    return (await this.#deps.database.read(query)).map(toRun);
  };

  lastRuns: AutomationStore["lastRuns"] = async (automationIds) => {
    if (automationIds.length === 0) return new Map();
    const newest = this.#deps.database.tables
      .selectFrom("automation_runs")
      .select(({ fn }) => fn.max("id").as("id"))
      .where("automation_id", "in", [...automationIds])
      .groupBy("automation_id");
    const rows = await this.#deps.database.read(this.#runs().where("id", "in", newest));
    return new Map(rows.map((row) => [row.automation_id, toRun(row)]));
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
