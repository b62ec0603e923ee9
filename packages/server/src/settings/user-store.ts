import type { UserRole } from "@convoke/protocol";
import type { ApplicationDatabase, LiveRows } from "../database/application-database.ts";
import { localUser } from "../security/caller.ts";
import { parseRole } from "../security/roles.ts";

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
  #read: readonly UserRow[] | null = null;
  #roles: ReadonlyMap<string, UserRole> = new Map();
  #disabled: ReadonlySet<string> = new Set();

  private constructor(database: ApplicationDatabase, rows: LiveRows<UserRow>) {
    this.#database = database;
    this.#rows = rows;
  }

  static async open(database: ApplicationDatabase): Promise<UserStore> {
    const query = database.tables.selectFrom("users").select(["id", "role", "disabled_at"]);
    return new UserStore(database, await database.live("users", query));
  }

  /** The role of a user; `member` for one who is not known. */
  roleOf(userId: string): UserRole {
    this.#refresh();
    return userId === localUser.userId ? "admin" : (this.#roles.get(userId) ?? "member");
  }

  /** True when a user has no keys and no logins until an admin enables them again. */
  isDisabled(userId: string): boolean {
    this.#refresh();
    return this.#disabled.has(userId);
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
    const { numUpdatedRows } = await this.#database.tables
      .updateTable("users")
      .set({ role })
      .where("id", "=", userId)
      .executeTakeFirst();
    await this.refresh();
    return numUpdatedRows > 0n;
  }

  /**
   * Ends all keys and logins of a user, who gets no further ones until {@link enable}. False when there is no such user.
   * Throws a {@link FixedRoleError} for the user `local`.
   */
  async disable(userId: string, nowMs: number): Promise<boolean> {
    if (userId === localUser.userId)
      throw new FixedRoleError("The user local has the server's own key and cannot be disabled.");
    const isThere = await this.#database.transaction(async (tables) => {
      await tables
        .updateTable("keys")
        .set({ revoked_at: nowMs })
        .where("user_id", "=", userId)
        .where("revoked_at", "is", null)
        .execute();
      await tables.deleteFrom("login_tickets").where("user_id", "=", userId).execute();
      await tables.deleteFrom("browser_logins").where("user_id", "=", userId).execute();
      const update = tables.updateTable("users").set({ disabled_at: nowMs }).where("id", "=", userId);
      return (await update.executeTakeFirst()).numUpdatedRows > 0n;
    });
    await this.refresh();
    return isThere;
  }

  /** Lets a disabled user log in again; keys and logins from before stay ended. False when there is no such user. */
  async enable(userId: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#database.tables
      .updateTable("users")
      .set({ disabled_at: null })
      .where("id", "=", userId)
      .executeTakeFirst();
    await this.refresh();
    return numUpdatedRows > 0n;
  }

  /** Resolves when {@link roleOf} knows everything that was acknowledged before the call. */
  async refresh(): Promise<void> {
    await this.#rows.refresh();
  }

  #refresh(): void {
    const rows = this.#rows.now();
    if (rows === this.#read) return;
    this.#roles = new Map(rows.map(({ id, role }) => [id, parseRole(role)]));
    this.#disabled = new Set(rows.flatMap(({ id, disabled_at: at }) => (at === null ? [] : [id])));
    this.#read = rows;
  }
}
