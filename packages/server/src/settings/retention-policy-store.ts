import type { RetentionPolicy } from "@convoke/protocol";
import type { ApplicationDatabase } from "../database/application-database.ts";
import type { Clock } from "../lib/clock.ts";

export type UserRetention = { readonly userId: string; readonly policy: RetentionPolicy };

/** Which conversations of each user go into the trash; every read is of the store. */
export class RetentionPolicyStore {
  readonly #database: ApplicationDatabase;
  readonly #clock: Clock;

  constructor({ database, clock }: { readonly database: ApplicationDatabase; readonly clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Null without one. */
  async of(userId: string): Promise<RetentionPolicy | null> {
    const query = this.#database.tables
      .selectFrom("retention_policies")
      .select("document")
      .where("user_id", "=", userId);
    const row = await query.executeTakeFirst();
    return row === undefined ? null : (JSON.parse(row.document) as RetentionPolicy);
  }

  async list(): Promise<UserRetention[]> {
    const query = this.#database.tables
      .selectFrom("retention_policies")
      .select(["user_id", "document"])
      .orderBy("user_id");
    return (await query.execute()).map((row) => ({
      userId: row.user_id,
      policy: JSON.parse(row.document) as RetentionPolicy,
    }));
  }

  async set(userId: string, policy: RetentionPolicy): Promise<void> {
    const values = { document: JSON.stringify(policy), updated_at: this.#clock.nowMs() };
    await this.#database.tables
      .insertInto("retention_policies")
      .values({ user_id: userId, ...values })
      .onConflict((conflict) => conflict.column("user_id").doUpdateSet(values))
      .execute();
  }
}
