import type { UserPolicy } from "@convoke/protocol";
import type { ApplicationDatabase, LiveRows } from "../database/application-database.ts";
import type { Clock } from "../lib/clock.ts";

export type PolicyStoreDeps = {
  readonly database: ApplicationDatabase;
  readonly clock: Clock;
};

/** Stands for all users in place of a name. */
export const everyUser = "*";

/** What is left out is not limited. */
export type Policy = { readonly [Field in keyof UserPolicy]?: NonNullable<UserPolicy[Field]> };

export type PolicyEntry = { readonly userId: string; readonly policy: Policy };

type Row = { readonly user_id: string; readonly document: string };

/** What users may have at most. What another process stored counts within a second. */
export class PolicyStore {
  readonly #deps: PolicyStoreDeps;
  readonly #rows: LiveRows<Row>;
  #read: readonly Row[] | null = null;
  #policies: ReadonlyMap<string, Policy> = new Map();

  private constructor(deps: PolicyStoreDeps, rows: LiveRows<Row>) {
    this.#deps = deps;
    this.#rows = rows;
  }

  static async open(deps: PolicyStoreDeps): Promise<PolicyStore> {
    const query = deps.database.tables.selectFrom("user_policies").select(["user_id", "document"]);
    return new PolicyStore(deps, await deps.database.live("user_policies", query));
  }

  /** What limits a user, at once from memory: each field of their own, and that of all users where they have none. */
  readonly of = (userId: string): Policy => {
    const rows = this.#rows.now();
    if (rows !== this.#read) {
      this.#read = rows;
      this.#policies = new Map(rows.map((row) => [row.user_id, JSON.parse(row.document) as Policy]));
    }
    return { ...this.#policies.get(everyUser), ...this.#policies.get(userId) };
  };

  /** The stored policies as they were set, by user. */
  async list(): Promise<PolicyEntry[]> {
    const query = this.#deps.database.tables.selectFrom("user_policies").selectAll().orderBy("user_id");
    return (await query.execute()).map((row) => ({
      userId: row.user_id,
      policy: JSON.parse(row.document) as Policy,
    }));
  }

  /** Replaces the policy of a user by what `change` makes of it; an empty one is removed. Resolves with the new one. */
  async change(userId: string, change: (policy: Policy) => UserPolicy): Promise<Policy> {
    const { database, clock } = this.#deps;
    const stored = await database.transaction(async (tables) => {
      const query = tables.selectFrom("user_policies").select("document").where("user_id", "=", userId);
      const row = await query.executeTakeFirst();
      const policy = withoutNull(change(row === undefined ? {} : (JSON.parse(row.document) as Policy)));
      if (Object.keys(policy).length === 0) {
        await tables.deleteFrom("user_policies").where("user_id", "=", userId).execute();
        return policy;
      }
      const values = { document: JSON.stringify(policy), updated_at: clock.nowMs() };
      await tables
        .insertInto("user_policies")
        .values({ user_id: userId, ...values })
        .onConflict((conflict) => conflict.column("user_id").doUpdateSet(values))
        .execute();
      return policy;
    });
    await this.#rows.refresh();
    return stored;
  }
}

function withoutNull(policy: UserPolicy): Policy {
  return Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== null));
}
