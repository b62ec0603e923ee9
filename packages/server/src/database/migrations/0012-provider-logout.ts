import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** What an identity provider needs to end the session that a login was made with. */
export const providerLogout: Migration = {
  async up(database: Kysely<unknown>) {
    const { schema } = database;
    await schema.alterTable("login_tickets").addColumn("sealed_id_token", "text").execute();
    await schema.alterTable("browser_logins").addColumn("sealed_id_token", "text").execute();
  },
};
