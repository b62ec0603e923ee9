import type { UserPolicy } from "@convoke/protocol";
import type { LiveRows } from "../database/application-database.ts";
import { putRow, removeRows, rowsWith } from "../database/rows.ts";
import type { StoreDeps } from "./store-deps.ts";
import { derived } from "../database/derived.ts";
import type { Tables } from "../database/tables.ts";
import type { Selectable } from "kysely";

/** Stands for all users in place of a name. */
export const everyUser = "*";

/** What is left out is not limited. */
export type Policy = { readonly [Field in keyof UserPolicy]?: NonNullable<UserPolicy[Field]> };

export type PolicyEntry = { readonly userId: string; readonly policy: Policy };

type Row = Pick<Selectable<Tables["user_policies"]>, "document" | "user_id">;

/** What users may have at most. What another process stored counts within a second. */
export class PolicyStore {
  readonly #deps: StoreDeps;
  readonly #rows: LiveRows<Row>;
  readonly #policies: () => ReadonlyMap<string, Policy>;

  private constructor(deps: StoreDeps, rows: LiveRows<Row>) {
    this.#deps = deps;
    this.#rows = rows;
    this.#policies = derived(rows, (all) => new Map(all.map((row) => [row.user_id, policyIn(row)])));
  }

  static async open(deps: StoreDeps): Promise<PolicyStore> {
    const query = deps.database.tables.selectFrom("user_policies").select(["user_id", "document"]);
    return new PolicyStore(deps, await deps.database.live("user_policies", query));
  }

  /** What limits a user, at once from memory: each field of their own, and that of all users where they have none. */
  readonly of = (userId: string): Policy => {
    const policies = this.#policies();
    return { ...policies.get(everyUser), ...policies.get(userId) };
  };

  /** The stored policies as they were set, by user. */
  async list(): Promise<PolicyEntry[]> {
    const query = rowsWith(this.#deps.database.tables, "user_policies", {}).orderBy("user_id");
    return (await query.execute()).map((row) => ({ userId: row.user_id, policy: policyIn(row) }));
  }

  /** Replaces the policy of a user by what `change` makes of it; an empty one is removed. Resolves with the new one. */
  async change(userId: string, change: (policy: Policy) => UserPolicy): Promise<Policy> {
    const { database, clock } = this.#deps;
    const stored = await database.transaction(async (tables) => {
      const key = { user_id: userId };
      const row = await rowsWith(tables, "user_policies", key).executeTakeFirst();
      const policy = withoutNull(change(row === undefined ? {} : policyIn(row)));
      const values = { document: JSON.stringify(policy), updated_at: clock.nowMs() };
      if (Object.keys(policy).length === 0) await removeRows(tables, "user_policies", key);
      else await putRow(tables, "user_policies", { ...key, ...values });
      return policy;
    });
    await this.#rows.refresh();
    return stored;
  }
}

function policyIn({ document }: Row): Policy {
  return JSON.parse(document) as Policy;
}

function withoutNull(policy: UserPolicy): Policy {
  return Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== null));
}
