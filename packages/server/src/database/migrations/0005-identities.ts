import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** People who log in at an identity provider, their logins in progress, the latest end of a login, and disabled users. */
export const identities: Migration = {
  async up(database: Kysely<unknown>) {
    const { schema } = database;
    await schema.alterTable("users").addColumn("disabled_at", "integer").execute();
    await schema.alterTable("login_tickets").addColumn("login_ends_at", "integer").execute();
    await schema.alterTable("browser_logins").addColumn("last_ends_at", "integer").execute();
    await schema
      .createTable("identities")
      .addColumn("issuer", "text", (column) => column.notNull())
      .addColumn("subject", "text", (column) => column.notNull())
      .addColumn("user_id", "text", (column) => column.notNull().references("users.id"))
      .addColumn("created_at", "integer", (column) => column.notNull())
      .addPrimaryKeyConstraint("identities_key", ["issuer", "subject"])
      .execute();
    await schema
      .createTable("login_states")
      .addColumn("digest", "text", (column) => column.notNull())
      .addColumn("sealed_state", "text", (column) => column.notNull())
      .addColumn("address", "text", (column) => column.notNull())
      .addColumn("ends_at", "integer", (column) => column.notNull())
      .addPrimaryKeyConstraint("login_states_key", ["digest"])
      .execute();
    await schema.createIndex("login_states_by_address").on("login_states").column("address").execute();
  },
};
