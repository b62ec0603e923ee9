import { hash, randomBytes } from "node:crypto";
import type { UserRole } from "@convoke/protocol";
import type { Selectable } from "kysely";
import type { LiveRows } from "../database/application-database.ts";
import type { Tables } from "../database/tables.ts";
import { createIssuedKey } from "../security/issued-key.ts";
import type { Share } from "../security/caller.ts";
import { parseKeyScope, shareOf, unreadableScope, type StoredScope } from "../security/key-scope.ts";
import { lesserRole, parseRole } from "../security/roles.ts";
import { UserStore } from "./user-store.ts";
import type { Logger } from "../lib/logger.ts";
import { addRow, changeRows, putRow, rowsWith } from "../database/rows.ts";
import { derived } from "../database/derived.ts";
import type { StoreDeps } from "./store-deps.ts";

/** A key as its owner sees it; the key itself is shown once, when it is created. Times are epoch milliseconds. */
export type KeyEntry = {
  readonly id: string;
  readonly userId: string;
  readonly label: string;
  readonly createdAtMs: number;
  /** To the minute. */
  readonly lastUsedAtMs: number | null;
  readonly revokedAtMs: number | null;
  /** From then on the key is refused; null: never. */
  readonly expiresAtMs: number | null;
  /** At most that of its user. */
  readonly role: UserRole;
  readonly scope: StoredScope | null;
};

/** What a new key is limited to; what is left out does not limit it. */
export type KeyLimits = {
  readonly expiresAtMs?: number | null;
  /** Above that of its user it has no effect. */
  readonly role?: UserRole | null;
  readonly scope?: StoredScope | null;
};

/** A key that is usable, as requests with it need it. */
export type UsableKey = {
  readonly id: string;
  readonly userId: string;
  readonly role: UserRole;
  /** The role that the key itself is limited to; null: that of its user. */
  readonly ownRole: UserRole | null;
  /** The only conversation that there is for the key. */
  readonly onlyConversation: string | undefined;
  /** For the key of a share link. */
  readonly share: Share | undefined;
};

export type KeyStoreDeps = StoreDeps & { readonly logger: Logger };

const liveColumns = ["id", "user_id", "digest", "last_used_at", "expires_at", "role", "scope"] as const;

type KeyRow = Pick<Selectable<Tables["keys"]>, (typeof liveColumns)[number]>;

type Known = Omit<UsableKey, "role"> & { readonly expiresAtMs: number; notedAtMs: number };

const useIsNotedEveryMs = 60_000;
export const userNamePattern = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;

/** A user name that cannot be used. */
export class UserNameError extends Error {
  override readonly name = "UserNameError";
}

/** The issued keys of users. Only digests are stored; changes by other processes take effect with the next request. */
export class KeyStore implements AsyncDisposable {
  readonly users: UserStore;
  readonly #deps: KeyStoreDeps;
  readonly #notes = new Set<Promise<void>>();
  readonly #keys: LiveRows<KeyRow>;
  /** Without revoked keys and those of an unreadable scope; a key among them may have expired since. */
  readonly #known: () => KnownKeys;

  private constructor(deps: KeyStoreDeps, users: UserStore, keys: LiveRows<KeyRow>) {
    this.users = users;
    this.#deps = deps;
    this.#keys = keys;
    this.#known = derived(keys, toKnown);
  }

  static async open(deps: KeyStoreDeps): Promise<KeyStore> {
    const query = deps.database.tables.selectFrom("keys").select(liveColumns).where("revoked_at", "is", null);
    const users = await UserStore.open(deps.database);
    return new KeyStore(deps, users, await deps.database.live("keys", query));
  }

  /** Creates a key for a user; the first key creates the user. */
  async create(
    userId: string,
    label: string,
    { expiresAtMs = null, role = null, scope = null }: KeyLimits = {},
  ): Promise<{ readonly key: string; readonly entry: KeyEntry }> {
    if (!userNamePattern.test(userId)) {
      throw new UserNameError(
        "A user name has 1 to 64 letters, digits, dots, dashes, underscores or @ signs.",
      );
    }
    const key = createIssuedKey();
    const id = randomBytes(6).toString("hex");
    await this.users.refresh();
    if (this.users.isDisabled(userId))
      throw new UserNameError(`The user ${userId} is disabled. Enable the user first.`);
    const row = {
      id,
      user_id: userId,
      digest: digestOf(key),
      label,
      created_at: this.#deps.clock.nowMs(),
      last_used_at: null,
      revoked_at: null,
      expires_at: expiresAtMs,
      role,
      scope: scope === null ? null : JSON.stringify(scope),
    };
    await this.#deps.database.transaction(async (tables) => {
      await addRow(tables, "users", { id: userId, created_at: row.created_at });
      await putRow(tables, "keys", row);
    });
    await Promise.all([this.#keys.refresh(), this.users.refresh()]);
    return { key, entry: this.#toEntry(row) };
  }

  /** All keys, the oldest first. */
  async list(): Promise<KeyEntry[]> {
    const query = rowsWith(this.#deps.database.tables, "keys", {}).orderBy("created_at").orderBy("id");
    return (await query.execute()).map((row) => this.#toEntry(row));
  }

  /** False when the key does not exist or was already revoked. */
  async revoke(id: string): Promise<boolean> {
    const { database, clock } = this.#deps;
    const revoked = { revoked_at: clock.nowMs() };
    const count = await changeRows(database.tables, "keys", { id, revoked_at: null }, revoked);
    await this.#keys.refresh();
    return count > 0;
  }

  /** A key with its user and role; null when it is unknown, revoked, expired, or of a scope that cannot be read. */
  find(key: string): UsableKey | null {
    // Digests are compared, so the duration of a look-up reveals nothing about a key.
    const found = this.#known().byDigest.get(digestOf(key));
    const nowMs = this.#deps.clock.nowMs();
    if (found === undefined || !this.#isValid(found, nowMs)) return null;
    if (nowMs - found.notedAtMs >= useIsNotedEveryMs) {
      found.notedAtMs = nowMs;
      this.#note(found.id, nowMs);
    }
    return this.#toUsable(found);
  }

  /** As {@link find}, by the id of the key; this is no use of it. */
  get(id: string): UsableKey | null {
    const found = this.#known().byId.get(id);
    const isUsable = found !== undefined && this.#isValid(found, this.#deps.clock.nowMs());
    return isUsable ? this.#toUsable(found) : null;
  }

  /** Waits for pending writes; the database stays open. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#notes);
  }

  #toEntry(row: Selectable<Tables["keys"]>): KeyEntry {
    return {
      id: row.id,
      userId: row.user_id,
      label: row.label,
      createdAtMs: row.created_at,
      lastUsedAtMs: row.last_used_at,
      revokedAtMs: row.revoked_at,
      expiresAtMs: row.expires_at,
      role: this.#roleOf(row.user_id, ownRoleOf(row)),
      scope: parseKeyScope(row.scope),
    };
  }

  #isValid({ expiresAtMs, userId }: Known, nowMs: number): boolean {
    return expiresAtMs > nowMs && !this.users.isDisabled(userId);
  }

  #toUsable({ id, userId, ownRole, onlyConversation, share }: Known): UsableKey {
    return { id, userId, role: this.#roleOf(userId, ownRole), ownRole, onlyConversation, share };
  }

  #roleOf(userId: string, ownRole: UserRole | null): UserRole {
    const role = this.users.roleOf(userId);
    return ownRole === null ? role : lesserRole(ownRole, role);
  }

  #note(id: string, nowMs: number): void {
    const noting = changeRows(this.#deps.database.tables, "keys", { id }, { last_used_at: nowMs })
      .then(
        () => {},
        (error: unknown) =>
          this.#deps.logger.warn({ key: id, error: String(error) }, "the use of a key could not be recorded"),
      )
      .finally(() => this.#notes.delete(noting));
    this.#notes.add(noting);
  }
}

type KnownKeys = { readonly byDigest: ReadonlyMap<string, Known>; readonly byId: ReadonlyMap<string, Known> };

function toKnown(rows: readonly KeyRow[]): KnownKeys {
  const byDigest = new Map<string, Known>();
  for (const row of rows) {
    const scope = parseKeyScope(row.scope);
    if (scope === unreadableScope) continue;
    byDigest.set(row.digest, {
      id: row.id,
      userId: row.user_id,
      ownRole: ownRoleOf(row),
      onlyConversation: scope?.conversation,
      share: shareOf(scope, row.expires_at),
      expiresAtMs: row.expires_at ?? Infinity,
      notedAtMs: row.last_used_at ?? Number.NEGATIVE_INFINITY,
    });
  }
  return { byDigest, byId: new Map(byDigest.values().map((known) => [known.id, known])) };
}

/** Null: that of its user. */
function ownRoleOf({ role, scope }: Pick<KeyRow, "role" | "scope">): UserRole | null {
  if (parseKeyScope(scope)?.read_only === true) return "viewer";
  return role === null ? null : parseRole(role);
}

function digestOf(key: string): string {
  return hash("sha256", key);
}
