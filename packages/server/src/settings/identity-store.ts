import { hash } from "node:crypto";
import type { UserRole } from "@convoke/protocol";
import type { Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { localUser } from "../security/caller.ts";
import { userNamePattern } from "./key-store.ts";
import type { UserStore } from "./user-store.ts";
import { changeRows, rowsWith } from "../database/rows.ts";
import type { StoreDeps } from "./store-deps.ts";

/** A person at an identity provider: these two never change, and are given to nobody else (OpenID Connect Core, 5.7). */
export type Identity = { readonly issuer: string; readonly subject: string };

/** What the provider says of a person at this login. */
export type PersonAtLogin = Identity & {
  readonly role: UserRole;
  /** The name of a new user, if it is free; null, or where it cannot be a name: one is made of the identity. */
  readonly name: string | null;
};

export type IdentityStoreDeps = StoreDeps & { readonly users: Pick<UserStore, "refresh"> };

/** The users that log in at an identity provider, by their identity there. */
export class IdentityStore {
  readonly #deps: IdentityStoreDeps;

  constructor(deps: IdentityStoreDeps) {
    this.#deps = deps;
  }

  /**
   * The user of a person, who now has this role; made when there is none. Never one that came into being in another
   * way, whatever name is asked for. Null, and nothing is changed, when the user is disabled.
   */
  async logIn(person: PersonAtLogin): Promise<{ readonly userId: string; readonly isNew: boolean } | null> {
    const { database, users, clock } = this.#deps;
    const { issuer, subject, role } = person;
    const nowMs = clock.nowMs();
    const found = await database.transaction(async (tables) => {
      const known = await tables
        .selectFrom("identities")
        .innerJoin("users", "users.id", "identities.user_id")
        .select(["users.id", "users.disabled_at"])
        .where("issuer", "=", issuer)
        .where("subject", "=", subject)
        .executeTakeFirst();
      if (known !== undefined) {
        if (known.disabled_at !== null) return null;
        await changeRows(tables, "users", { id: known.id }, { role });
        return { userId: known.id, isNew: false };
      }
      const id = await freeName(tables, person);
      await tables.insertInto("users").values({ id, created_at: nowMs, role }).execute();
      const identity = { issuer, subject, user_id: id, created_at: nowMs };
      await tables.insertInto("identities").values(identity).execute();
      return { userId: id, isNew: true };
    });
    await users.refresh();
    return found;
  }
}

/** Names say nothing about who somebody is: a taken one gets an end that is made of the identity. */
async function freeName(
  tables: Transaction<Tables>,
  { issuer, subject, name }: PersonAtLogin,
): Promise<string> {
  const digest = hash("sha256", JSON.stringify([issuer, subject]));
  const ownNames = [`user-${digest.slice(0, 12)}`, `user-${digest.slice(0, 32)}`];
  const isName = name !== null && userNamePattern.test(name);
  const wanted = isName ? [name, `${name.slice(0, 51)}-${digest.slice(0, 12)}`] : [];
  const names = [...wanted, ...ownNames].filter((one) => one !== localUser.userId);
  const rows = await rowsWith(tables, "users", { id: names }).execute();
  const taken = new Set(rows.map(({ id }) => id));
  const free = names.find((one) => !taken.has(one));
  if (free === undefined) throw new Error("Every name that a new user could have is taken.");
  return free;
}
