import { nextUuid7 } from "../lib/uuid7.ts";
import type { AutomationPlan } from "./automation.ts";
import { toAutomation, toDocument, toRun } from "./automation-rows.ts";
import { secretsIn, withSecret } from "./hook-secrets.ts";
import { recordDecision } from "./record-decision.ts";
import type { AutomationRunState, AutomationTrigger } from "@convoke/protocol";
import { changeRows, removeRows, rowsWith, type Wanted } from "../database/rows.ts";
import { withoutUndefined } from "../lib/without-undefined.ts";
import { unsealOrNull } from "../security/seal.ts";
import type { SealedStoreDeps } from "../settings/store-deps.ts";
import type { Automation, AutomationRun } from "./automation.ts";
import type { AutomationChange, Decision, DecisionBase, PageOf, Recorded, RunChange } from "./decision.ts";

/** Automations and their runs, in the application's tables: nodes that share a store share it. */
export class AutomationStore {
  readonly #deps: SealedStoreDeps;
  #lastId: string | null = null;

  constructor(deps: SealedStoreDeps) {
    this.#deps = deps;
  }

  async create(
    ownerId: string,
    plan: AutomationPlan,
    { isPaused, nextDueMs }: Pick<Automation, "isPaused" | "nextDueMs">,
    hookSecret: string | null,
  ): Promise<Automation> {
    const { database, clock } = this.#deps;
    const nowMs = clock.nowMs();
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
  }

  async find(id: string): Promise<Automation | null> {
    const [row] = await this.#deps.database.read(this.#automations({ id }));
    return row === undefined ? null : toAutomation(row);
  }

  async count(ownerId: string): Promise<number> {
    const { database } = this.#deps;
    const query = database.tables
      .selectFrom("automations")
      .select(({ fn }) => fn.countAll<number | string>().as("count"))
      .where("owner_id", "=", ownerId);
    const [row] = await database.read(query);
    return Number(row?.count ?? 0);
  }

  /** The newest first. */
  async list(ownerId: string, { beforeId, limit }: PageOf): Promise<readonly Automation[]> {
    let query = this.#automations({ owner_id: ownerId }).orderBy("id", "desc").limit(limit);
    if (beforeId !== null) query = query.where("id", "<", beforeId);
    return (await this.#deps.database.read(query)).map(toAutomation);
  }

  /** Those of all users with a trigger of this kind that are not paused. */
  async ofKind(kind: AutomationTrigger["kind"]): Promise<readonly Automation[]> {
    const query = this.#automations({ kind, is_paused: 0 }).orderBy("id");
    return (await this.#deps.database.read(query)).map(toAutomation);
  }

  /**
   * Replaces the fields that are given; a hook secret of null is removed, and one that takes the place of another leaves that valid for
   * {@link previousSecretMs}. Null when the automation has another version by now, or is gone.
   */
  async change(
    id: string,
    version: number,
    { hookSecret, isPaused, nextDueMs, ...plan }: AutomationChange,
  ): Promise<Automation | null> {
    const { database, clock } = this.#deps;
    return await database.transaction(async (tables) => {
      const row = await rowsWith(tables, "automations", { id, version }).executeTakeFirst();
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
  }

  /** With its runs. False when it is gone. */
  async delete(id: string): Promise<boolean> {
    return await this.#deps.database.transaction(async (tables) => {
      await removeRows(tables, "automation_runs", { automation_id: id });
      await removeRows(tables, "automation_deliveries", { automation_id: id });
      return (await removeRows(tables, "automations", { id })) > 0;
    });
  }

  /** The valid ones, the newest first; none where they cannot be opened any more. */
  async hookSecrets(id: string): Promise<readonly string[]> {
    const [row] = await this.#deps.database.read(this.#automations({ id }));
    const text = this.#open(row?.sealed_hook_secret ?? null);
    return text === null ? [] : secretsIn(text, this.#deps.clock.nowMs());
  }

  /** Those with a due time up to `atMs`, the earliest first. */
  async due(atMs: number, limit: number): Promise<readonly Automation[]> {
    const query = this.#automations({}).where("next_due_at", "<=", atMs).orderBy("next_due_at").limit(limit);
    return (await this.#deps.database.read(query)).map(toAutomation);
  }

  /** The earliest due time of all. */
  async earliestDueMs(): Promise<number | null> {
    const query = this.#automations({}).where("next_due_at", "is not", null).orderBy("next_due_at").limit(1);
    return (await this.#deps.database.read(query))[0]?.next_due_at ?? null;
  }

  /**
   * Calls `decide` with the present state and stores its decision in the same transaction; `decide` may be called again and does nothing
   * else. A run whose key exists is not stored again. Claimed runs are those of `nodeId`. Null when the automation is gone or `decide` gave null.
   */
  async record(
    id: string,
    nodeId: string,
    decide: (base: DecisionBase) => Decision | null,
  ): Promise<Recorded | null> {
    const { database, clock } = this.#deps;
    const context = { nodeId, nowMs: clock.nowMs(), nextId: (nowMs: number) => this.#nextId(nowMs) };
    return await database.transaction((tables) => recordDecision(tables, id, decide, context));
  }

  async findRun(id: string): Promise<AutomationRun | null> {
    const [row] = await this.#deps.database.read(this.#runs({ id }));
    return row === undefined ? null : toRun(row);
  }

  /** The run that created this conversation; null: none did. */
  async findRunOf(conversationId: string): Promise<AutomationRun | null> {
    const [row] = await this.#deps.database.read(this.#runs({ conversation_id: conversationId }));
    return row === undefined ? null : toRun(row);
  }

  /** The newest first. */
  async runs(
    automationId: string,
    { beforeId, limit, state }: PageOf & { readonly state: AutomationRunState | null },
  ): Promise<readonly AutomationRun[]> {
    let query = this.#runs({ automation_id: automationId }).orderBy("id", "desc").limit(limit);
    if (beforeId !== null) query = query.where("id", "<", beforeId);
    if (state !== null) query = query.where("state", "=", state);
    return (await this.#deps.database.read(query)).map(toRun);
  }

  /** The newest run of each of these automations, by its automation. */
  async lastRuns(automationIds: readonly string[]): Promise<ReadonlyMap<string, AutomationRun>> {
    if (automationIds.length === 0) return new Map();
    const newest = this.#deps.database.tables
      .selectFrom("automation_runs")
      .select(({ fn }) => fn.max("id").as("id"))
      .where("automation_id", "in", [...automationIds])
      .groupBy("automation_id");
    const rows = await this.#deps.database.read(this.#runs({}).where("id", "in", newest));
    return new Map(rows.map((row) => [row.automation_id, toRun(row)]));
  }

  /** Runs of all automations in this state, by id. */
  async runsIn(
    state: AutomationRunState,
    { afterId, limit }: { readonly afterId: string | null; readonly limit: number },
  ): Promise<readonly AutomationRun[]> {
    let query = this.#runs({ state }).orderBy("id").limit(limit);
    if (afterId !== null) query = query.where("id", ">", afterId);
    return (await this.#deps.database.read(query)).map(toRun);
  }

  /** Changes a run that is in one of these states; false otherwise. */
  async changeRun(id: string, from: readonly AutomationRunState[], change: RunChange): Promise<boolean> {
    const wanted = { id, state: from };
    const { tables } = this.#deps.database;
    return (await changeRows(tables, "automation_runs", wanted, toRunUpdate(change))) > 0;
  }

  #nextId(nowMs: number): string {
    return (this.#lastId = nextUuid7(this.#lastId, nowMs));
  }

  #seal(secret: string | null, before: string | null): string | null {
    const { secretBox, clock } = this.#deps;
    return secret === null ? null : secretBox.seal(withSecret(secret, before, clock.nowMs()));
  }

  /** Null also for one of another master key: the owner has to set the secret again. */
  #open(sealed: string | null): string | null {
    return sealed === null ? null : unsealOrNull(this.#deps.secretBox, sealed);
  }

  #automations(wanted: Wanted<"automations">) {
    return rowsWith(this.#deps.database.tables, "automations", wanted);
  }

  #runs(wanted: Wanted<"automation_runs">) {
    return rowsWith(this.#deps.database.tables, "automation_runs", wanted);
  }
}

function toRunUpdate({ state, reason, nodeId, attempts, startedAtMs, endedAtMs }: RunChange) {
  return withoutUndefined({
    state,
    reason,
    node_id: nodeId,
    attempts,
    started_at: startedAtMs,
    ended_at: endedAtMs,
  });
}
