import type { Rule } from "@convoke/protocol";
import type { ApplicationDatabase, LiveRows } from "../database/application-database.ts";
import type { Clock } from "../lib/clock.ts";

export type RuleStoreDeps = {
  readonly database: ApplicationDatabase;
  readonly clock: Clock;
};

/** The rules of a user with the number of changes that led to them; 0 when none were ever stored. */
export type VersionedRules = { readonly version: number; readonly rules: readonly Rule[] };

type Row = { readonly user_id: string; readonly version: number; readonly document: string };

const none: VersionedRules = { version: 0, rules: [] };

/** The rules of all users for all their conversations. What another process stored counts within a second. */
export class RuleStore {
  readonly #deps: RuleStoreDeps;
  readonly #rows: LiveRows<Row>;
  #read: readonly Row[] | null = null;
  #rules: ReadonlyMap<string, VersionedRules> = new Map();

  private constructor(deps: RuleStoreDeps, rows: LiveRows<Row>) {
    this.#deps = deps;
    this.#rows = rows;
  }

  static async open(deps: RuleStoreDeps): Promise<RuleStore> {
    const query = deps.database.tables.selectFrom("user_rules").select(["user_id", "version", "document"]);
    return new RuleStore(deps, await deps.database.live("user_rules", query));
  }

  /** At once, from memory. */
  of(userId: string): VersionedRules {
    const rows = this.#rows.now();
    if (rows !== this.#read) {
      this.#read = rows;
      this.#rules = new Map(
        rows.map(({ user_id: id, version, document }) => [
          id,
          { version, rules: JSON.parse(document) as readonly Rule[] },
        ]),
      );
    }
    return this.#rules.get(userId) ?? none;
  }

  /** Including everything that was acknowledged before the call. */
  async load(userId: string): Promise<VersionedRules> {
    await this.#rows.refresh();
    return this.of(userId);
  }

  /**
   * Replaces the rules by what `change` makes of the newest, from the next decision on in this process. Null, and
   * nothing is changed, when these have another version than `expected`; null for any.
   */
  async change(
    userId: string,
    expected: number | null,
    change: (rules: readonly Rule[]) => readonly Rule[],
  ): Promise<VersionedRules | null> {
    const { database, clock } = this.#deps;
    const stored = await database.transaction(async (tables) => {
      const query = tables
        .selectFrom("user_rules")
        .select(["version", "document"])
        .where("user_id", "=", userId);
      const row = await query.executeTakeFirst();
      const version = row?.version ?? 0;
      if (expected !== null && expected !== version) return null;
      const rules = change(row === undefined ? [] : (JSON.parse(row.document) as readonly Rule[]));
      const values = { version: version + 1, document: JSON.stringify(rules), updated_at: clock.nowMs() };
      await tables
        .insertInto("user_rules")
        .values({ user_id: userId, ...values })
        .onConflict((conflict) => conflict.column("user_id").doUpdateSet(values))
        .execute();
      return { version: version + 1, rules };
    });
    await this.#rows.refresh();
    return stored;
  }
}
