import type { UserRole } from "@convoke/protocol";
import type { ApplicationDatabase, LiveRows } from "../database/application-database.ts";
import { localUser } from "../security/caller.ts";
import { parseRole } from "../security/roles.ts";
import { changeRows, removeRows } from "../database/rows.ts";
import { derived } from "../database/derived.ts";

/** A user as admins see them. */
export type UserEntry = {
  readonly id: string;
  readonly role: UserRole;
  readonly createdAtMs: number;
  /** Null: not disabled. */
  readonly disabledAtMs: number | null;
};

/** The user's role cannot be changed, nor can the user be disabled. */
export class FixedRoleError extends Error {
  override readonly name = "FixedRoleError";
}

type UserRow = { readonly id: string; readonly role: string; readonly disabled_at: number | null };

/** The users that have had a key or have logged in, with their roles; changes by other processes take effect with the next request. */
export class UserStore {
  readonly #database: ApplicationDatabase;
  readonly #rows: LiveRows<UserRow>;
  readonly #users: () => ReadonlyMap<string, UserRow>;

  private constructor(database: ApplicationDatabase, rows: LiveRows<UserRow>) {
    this.#database = database;
    this.#rows = rows;
    this.#users = derived(rows, (all) => new Map(all.map((row) => [row.id, row])));
  }

  static async open(database: ApplicationDatabase): Promise<UserStore> {
    const query = database.tables.selectFrom("users").select(["id", "role", "disabled_at"]);
    return new UserStore(database, await database.live("users", query));
  }

  /** The role of a user; `member` for one who is not known. */
  roleOf(userId: string): UserRole {
    const row = this.#users().get(userId);
    if (userId === localUser.userId) return "admin";
    return row === undefined ? "member" : parseRole(row.role);
  }

  /** True when a user has no keys and no logins until an admin enables them again. */
  isDisabled(userId: string): boolean {
    return (this.#users().get(userId)?.disabled_at ?? null) !== null;
  }

  /** All users, by name. */
  async list(): Promise<UserEntry[]> {
    const rows = await this.#database.tables.selectFrom("users").selectAll().orderBy("id").execute();
    return rows.map(({ id, role, created_at: createdAtMs, disabled_at: disabledAtMs }) => ({
      id,
      role: id === localUser.userId ? "admin" : parseRole(role),
      createdAtMs,
      disabledAtMs,
    }));
  }

  /** False when there is no such user. Throws a {@link FixedRoleError} for the user `local`. */
  async setRole(userId: string, role: UserRole): Promise<boolean> {
    if (userId === localUser.userId && role !== "admin")
      throw new FixedRoleError("The user local has the server's own key and is always an admin.");
    return await this.#change(userId, { role });
  }

  /**
   * Ends all keys and logins of a user, who gets no further ones until {@link enable}. False when there is no such user.
   * Throws a {@link FixedRoleError} for the user `local`.
   */
  async disable(userId: string, nowMs: number): Promise<boolean> {
    if (userId === localUser.userId)
      throw new FixedRoleError("The user local has the server's own key and cannot be disabled.");
    const isThere = await this.#database.transaction(async (tables) => {
      await changeRows(tables, "keys", { user_id: userId, revoked_at: null }, { revoked_at: nowMs });
      await removeRows(tables, "login_tickets", { user_id: userId });
      await removeRows(tables, "browser_logins", { user_id: userId });
      return (await changeRows(tables, "users", { id: userId }, { disabled_at: nowMs })) > 0;
    });
    await this.refresh();
    return isThere;
  }

  /** Lets a disabled user log in again; keys and logins from before stay ended. False when there is no such user. */
  async enable(userId: string): Promise<boolean> {
    return await this.#change(userId, { disabled_at: null });
  }

  /** Resolves when {@link roleOf} knows everything that was acknowledged before the call. */
  async refresh(): Promise<void> {
    await this.#rows.refresh();
  }

  async #change(
    userId: string,
    change: { readonly role: UserRole } | { readonly disabled_at: null },
  ): Promise<boolean> {
    const count = await changeRows(this.#database.tables, "users", { id: userId }, change);
    await this.refresh();
    return count > 0;
  }
}
