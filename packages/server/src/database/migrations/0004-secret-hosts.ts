import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** The hosts that a user's secret is bound to, as JSON. Secrets that were there before are bound to none. */
export const secretHosts: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema.alterTable("secrets").addColumn("binding", "text").execute();
  },
};
