import type { RetentionPolicy } from "@convoke/protocol";

import { putRow, rowsWith } from "../database/rows.ts";
import type { StoreDeps } from "./store-deps.ts";

export type UserRetention = { readonly userId: string; readonly policy: RetentionPolicy };

/** Which conversations of each user go into the trash; every read is of the store. */
export class RetentionPolicyStore {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  /** Null without one. */
  async of(userId: string): Promise<RetentionPolicy | null> {
    const query = rowsWith(this.#deps.database.tables, "retention_policies", { user_id: userId });
    const row = await query.executeTakeFirst();
    return row === undefined ? null : (JSON.parse(row.document) as RetentionPolicy);
  }

  async list(): Promise<UserRetention[]> {
    const query = rowsWith(this.#deps.database.tables, "retention_policies", {}).orderBy("user_id");
    return (await query.execute()).map((row) => ({
      userId: row.user_id,
      policy: JSON.parse(row.document) as RetentionPolicy,
    }));
  }

  async set(userId: string, policy: RetentionPolicy): Promise<void> {
    const { database, clock } = this.#deps;
    const row = { user_id: userId, document: JSON.stringify(policy), updated_at: clock.nowMs() };
    await putRow(database.tables, "retention_policies", row);
  }
}
