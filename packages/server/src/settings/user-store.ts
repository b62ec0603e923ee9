import type { UserRole } from "@convoke/protocol";
import type { ApplicationDatabase, LiveRows } from "../database/application-database.ts";
import { localUser } from "../security/caller.ts";
import { parseRole } from "../security/roles.ts";

/** A user as admins see them. */
export type UserEntry = { readonly id: string; readonly role: UserRole; readonly createdAtMs: number };

/** The user's role cannot be changed. */
export class FixedRoleError extends Error {
  override readonly name = "FixedRoleError";
}

type UserRow = { readonly id: string; readonly role: string };

/** The users that have had a key, with their roles; changes by other processes take effect with the next request. */
export class UserStore {
  readonly #database: ApplicationDatabase;
  readonly #rows: LiveRows<UserRow>;
  #read: readonly UserRow[] | null = null;
  #roles: ReadonlyMap<string, UserRole> = new Map();

  private constructor(database: ApplicationDatabase, rows: LiveRows<UserRow>) {
    this.#database = database;
    this.#rows = rows;
  }

  static async open(database: ApplicationDatabase): Promise<UserStore> {
    const query = database.tables.selectFrom("users").select(["id", "role"]);
    return new UserStore(database, await database.live("users", query));
  }

  /** The role of a user; `member` for one who has had no key. */
  roleOf(userId: string): UserRole {
    const rows = this.#rows.now();
    if (rows !== this.#read) {
      this.#roles = new Map(rows.map(({ id, role }) => [id, parseRole(role)]));
      this.#read = rows;
    }
    return userId === localUser.userId ? "admin" : (this.#roles.get(userId) ?? "member");
  }

  /** All users, by name. */
  async list(): Promise<UserEntry[]> {
    const rows = await this.#database.tables.selectFrom("users").selectAll().orderBy("id").execute();
    return rows.map(({ id, role, created_at: createdAtMs }) => ({
      id,
      role: id === localUser.userId ? "admin" : parseRole(role),
      createdAtMs,
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

  /** Resolves when {@link roleOf} knows everything that was acknowledged before the call. */
  async refresh(): Promise<void> {
    await this.#rows.refresh();
  }
}
