import type { Rule } from "@convoke/protocol";
import type { LiveRows } from "../database/application-database.ts";
import { putRow, rowsWith } from "../database/rows.ts";
import type { StoreDeps } from "./store-deps.ts";
import { derived } from "../database/derived.ts";
import type { Tables } from "../database/tables.ts";
import type { Selectable } from "kysely";

/** The rules of a user with the number of changes that led to them; 0 when none were ever stored. */
export type VersionedRules = { readonly version: number; readonly rules: readonly Rule[] };

type Row = Pick<Selectable<Tables["user_rules"]>, "document" | "user_id" | "version">;

const none: VersionedRules = { version: 0, rules: [] };

/** The rules of all users for all their conversations. What another process stored counts within a second. */
export class RuleStore {
  readonly #deps: StoreDeps;
  readonly #rows: LiveRows<Row>;
  readonly #rules: () => ReadonlyMap<string, VersionedRules>;

  private constructor(deps: StoreDeps, rows: LiveRows<Row>) {
    this.#deps = deps;
    this.#rows = rows;
    this.#rules = derived(rows, (all) => new Map(all.map((row) => [row.user_id, rulesIn(row)])));
  }

  static async open(deps: StoreDeps): Promise<RuleStore> {
    const query = deps.database.tables.selectFrom("user_rules").select(["user_id", "version", "document"]);
    return new RuleStore(deps, await deps.database.live("user_rules", query));
  }

  /** At once, from memory. */
  of(userId: string): VersionedRules {
    return this.#rules().get(userId) ?? none;
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
      const row = await rowsWith(tables, "user_rules", { user_id: userId }).executeTakeFirst();
      const before = row === undefined ? none : rulesIn(row);
      if (expected !== null && expected !== before.version) return null;
      const after = { version: before.version + 1, rules: change(before.rules) };
      await putRow(tables, "user_rules", {
        user_id: userId,
        version: after.version,
        document: JSON.stringify(after.rules),
        updated_at: clock.nowMs(),
      });
      return after;
    });
    await this.#rows.refresh();
    return stored;
  }
}

function rulesIn({ version, document }: Row): VersionedRules {
  return { version, rules: JSON.parse(document) as readonly Rule[] };
}
