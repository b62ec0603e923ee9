import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Selectable } from "kysely";
import type { LiveRows } from "../database/application-database.ts";
import type { Tables } from "../database/tables.ts";
import type { Logger } from "../lib/logger.ts";
import { changeRows, putRow, removalBeyond, removeRows, rowsWith } from "../database/rows.ts";
import { derived } from "../database/derived.ts";
import type { StoreDeps } from "./store-deps.ts";
import { hash } from "node:crypto";

/** The user of a login, and the keys that it depends on. */
export type LoginOwner = {
  readonly userId: string;
  /** The id of the issued key that began it. */
  readonly keyId?: string | undefined;
  /** The mark of the configured key that began it, see {@link markOfKey}; `""` without such a key. */
  readonly keyMark: string;
  /** The login ends then at the latest; absent: it goes on while it is used. */
  readonly endsAtMs?: number | undefined;
  /** Of the identity provider at which it began; kept as long as the login. */
  readonly sealedIdToken?: string | undefined;
};

/** The two halves of a login, each 192 random bits. Neither is usable without the other. */
export type LoginHalves = { readonly cookie: string; readonly proof: string };

/** A login as its user sees it. Times are epoch milliseconds. */
export type LoginView = {
  readonly id: string;
  readonly client: string;
  readonly address: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
  readonly endsAtMs: number;
};

/** The browser's description of itself at login. */
export type LoginClient = { readonly client: string; readonly address: string };

export type LoginStoreDeps = StoreDeps & {
  readonly logger: Logger;
  /** Marks of the currently configured keys. */
  readonly keyMarks: readonly string[];
};

type LoginRow = Selectable<Tables["browser_logins"]>;

const ticketMs = 600_000;
const loginMs = 30 * 86_400_000;
const useIsNotedEveryMs = 60_000;
const maxLoginsOfUser = 100;
const maxLetters = 300;

type Known = {
  readonly id: string;
  readonly owner: Omit<LoginOwner, "keyMark">;
  readonly sealedIdToken: string | null;
  readonly proofDigest: string;
  /** Use moves the end no further. */
  readonly lastEndsAtMs: number;
  endsAtMs: number;
  notedAtMs: number;
  /** Known once both halves have been there. */
  keyMark: string | null;
};

/**
 * Logins of browsers, and the tickets that create them. Only digests are stored; changes by other processes take effect
 * with the next request. A digest includes the mark of the configured key that began the login: without that key in the
 * configuration no login matches. The digest reveals nothing about the key, because it also includes 192 random bits.
 */
export class LoginStore implements AsyncDisposable {
  readonly #deps: LoginStoreDeps;
  readonly #marks: readonly string[];
  readonly #notes = new Set<Promise<void>>();
  readonly #rows: LiveRows<LoginRow>;
  /** By the digest of the cookie. */
  readonly #logins: () => ReadonlyMap<string, Known>;
  #byId: ReadonlyMap<string, Known> = new Map();

  private constructor(deps: LoginStoreDeps, rows: LiveRows<LoginRow>) {
    this.#deps = deps;
    this.#rows = rows;
    this.#logins = derived(rows, (all) => this.#toKnown(all));
    this.#marks = ["", ...deps.keyMarks];
  }

  static async open(deps: LoginStoreDeps): Promise<LoginStore> {
    const query = deps.database.tables.selectFrom("browser_logins").selectAll();
    return new LoginStore(deps, await deps.database.live("browser_logins", query));
  }

  /** A ticket for one login within ten minutes. */
  async createTicket(owner: LoginOwner): Promise<{ readonly ticket: string; readonly endsAtMs: number }> {
    const ticket = secret();
    const nowMs = this.#deps.clock.nowMs();
    const endsAtMs = nowMs + ticketMs;
    const { tables } = this.#deps.database;
    await tables.deleteFrom("login_tickets").where("ends_at", "<=", nowMs).execute();
    await putRow(tables, "login_tickets", {
      digest: digestOf(ticket, owner.keyMark),
      user_id: owner.userId,
      key_id: owner.keyId ?? null,
      ends_at: endsAtMs,
      login_ends_at: owner.endsAtMs ?? null,
      sealed_id_token: owner.sealedIdToken ?? null,
    });
    return { ticket, endsAtMs };
  }

  /** The user of a ticket; null when it is wrong, used or expired. It stays valid. */
  async ownerOfTicket(ticket: string): Promise<string | null> {
    const digest = this.#marks.map((mark) => digestOf(ticket, mark));
    const query = rowsWith(this.#deps.database.tables, "login_tickets", { digest });
    const row = await query.executeTakeFirst();
    return row === undefined || row.ends_at <= this.#deps.clock.nowMs() ? null : row.user_id;
  }

  /**
   * The user of the login with this half, without authenticating them. Null when there is none, or when it has expired.
   */
  userOfCookie(cookie: string): string | null {
    const known = this.#logins().get(digestOf(cookie, ""));
    return known === undefined || this.#isOver(known) ? null : known.owner.userId;
  }

  /** Consumes a ticket and returns its user; null when it is wrong, used or expired. */
  async redeem(ticket: string): Promise<LoginOwner | null> {
    // Digests are compared, so the duration of a look-up reveals nothing about a ticket.
    const marks = new Map(this.#marks.map((mark) => [digestOf(ticket, mark), mark]));
    const row = await this.#deps.database.tables
      .deleteFrom("login_tickets")
      .where("digest", "in", [...marks.keys()])
      .returningAll()
      .executeTakeFirst();
    if (row === undefined || row.ends_at <= this.#deps.clock.nowMs()) return null;
    const keyMark = marks.get(row.digest) ?? "";
    return {
      userId: row.user_id,
      keyMark,
      keyId: row.key_id ?? undefined,
      endsAtMs: row.login_ends_at ?? undefined,
      sealedIdToken: row.sealed_id_token ?? undefined,
    };
  }

  /** Creates a login. Above the limit a user's least recently used logins end. */
  async create(
    owner: LoginOwner,
    { client, address }: LoginClient,
  ): Promise<LoginHalves & { readonly id: string; readonly endsAtMs: number }> {
    const halves = { cookie: secret(), proof: secret() };
    const id = randomBytes(8).toString("hex");
    const nowMs = this.#deps.clock.nowMs();
    const endsAtMs = Math.min(nowMs + loginMs, owner.endsAtMs ?? Infinity);
    const keyEndsAtMs = await this.#deps.database.transaction(async (tables) => {
      await tables.deleteFrom("browser_logins").where("ends_at", "<=", nowMs).execute();
      const remaining = { column: "last_used_at", max: maxLoginsOfUser - 1 } as const;
      await removalBeyond(tables, "browser_logins", { user_id: owner.userId }, remaining).execute();
      await putRow(tables, "browser_logins", {
        id,
        user_id: owner.userId,
        key_id: owner.keyId ?? null,
        cookie_digest: digestOf(halves.cookie, ""),
        proof_digest: digestOf(halves.proof, owner.keyMark),
        client: client.slice(0, maxLetters),
        address: address.slice(0, maxLetters),
        created_at: nowMs,
        last_used_at: nowMs,
        ends_at: endsAtMs,
        last_ends_at: owner.endsAtMs ?? null,
        sealed_id_token: owner.sealedIdToken ?? null,
      });
      const key = await rowsWith(tables, "keys", { id: owner.keyId ?? "" }).executeTakeFirst();
      return key?.expires_at ?? Infinity;
    });
    await this.#rows.refresh();
    return { ...halves, id, endsAtMs: Math.min(endsAtMs, keyEndsAtMs) };
  }

  /** The login with these halves; null when they do not belong together or it has expired. */
  find({ cookie, proof }: LoginHalves): (LoginOwner & { readonly id: string }) | null {
    const known = this.#logins().get(digestOf(cookie, ""));
    if (known === undefined || this.#isOver(known)) return null;
    let keyMark: string | null = null;
    for (const mark of this.#marks) if (isSame(digestOf(proof, mark), known.proofDigest)) keyMark = mark;
    if (keyMark === null) return null;
    known.keyMark = keyMark;
    this.#noteUse(known);
    return { id: known.id, ...known.owner, keyMark };
  }

  /** True when the login with this id is valid now. */
  isUsable(id: string): boolean {
    const known = this.#known(id);
    return known !== undefined && !this.#isOver(known);
  }

  /** The origin of a login that was found earlier; null for others. */
  keyMarkOf(id: string): string | null {
    return this.#known(id)?.keyMark ?? null;
  }

  /** When a login ends at the latest, however it is used; undefined for one without such an end. */
  lastEndOf(id: string): number | undefined {
    const lastEndsAtMs = this.#known(id)?.lastEndsAtMs ?? Infinity;
    return lastEndsAtMs === Infinity ? undefined : lastEndsAtMs;
  }

  /** What a login has of the identity provider at which it began; null for others. */
  sealedIdTokenOf(id: string): string | null {
    return this.#known(id)?.sealedIdToken ?? null;
  }

  /** The logins of one user that work, the last used first; one ends with its key at the latest. */
  async list(userId: string): Promise<LoginView[]> {
    const nowMs = this.#deps.clock.nowMs();
    const rows = await this.#deps.database.tables
      .selectFrom("browser_logins as login")
      .leftJoin("keys", "keys.id", "login.key_id")
      .selectAll("login")
      .select("keys.expires_at as key_expires_at")
      .where("login.user_id", "=", userId)
      .where("login.ends_at", ">", nowMs)
      .where((where) =>
        where.or([
          where("login.key_id", "is", null),
          where.and([
            where("keys.id", "is not", null),
            where("keys.revoked_at", "is", null),
            where.or([where("keys.expires_at", "is", null), where("keys.expires_at", ">", nowMs)]),
          ]),
        ]),
      )
      .orderBy("login.last_used_at", "desc")
      .orderBy("login.id")
      .execute();
    return rows.map((row) => ({
      id: row.id,
      client: row.client,
      address: row.address,
      createdAtMs: row.created_at,
      lastUsedAtMs: row.last_used_at,
      endsAtMs: Math.min(row.ends_at, row.key_expires_at ?? Infinity),
    }));
  }

  /** Ends one of a user's logins; false when it does not exist. */
  async end(userId: string, id: string): Promise<boolean> {
    const count = await removeRows(this.#deps.database.tables, "browser_logins", { user_id: userId, id });
    await this.#rows.refresh();
    return count > 0;
  }

  /** Ends all of a user's logins and tickets. */
  async endAll(userId: string): Promise<void> {
    const { tables } = this.#deps.database;
    await removeRows(tables, "login_tickets", { user_id: userId });
    await removeRows(tables, "browser_logins", { user_id: userId });
    await this.#rows.refresh();
  }

  /** Waits for pending writes; the database stays open. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#notes);
  }

  #isOver({ endsAtMs }: Known): boolean {
    return endsAtMs <= this.#deps.clock.nowMs();
  }

  #known(id: string): Known | undefined {
    this.#logins();
    return this.#byId.get(id);
  }

  #toKnown(rows: readonly LoginRow[]): ReadonlyMap<string, Known> {
    const before = this.#byId;
    const logins = new Map(
      rows.map((row): [string, Known] => [
        row.cookie_digest,
        {
          id: row.id,
          owner: { userId: row.user_id, keyId: row.key_id ?? undefined },
          sealedIdToken: row.sealed_id_token,
          proofDigest: row.proof_digest,
          lastEndsAtMs: row.last_ends_at ?? Infinity,
          endsAtMs: row.ends_at,
          notedAtMs: row.last_used_at,
          keyMark: before.get(row.id)?.keyMark ?? null,
        },
      ]),
    );
    this.#byId = new Map(logins.values().map((known) => [known.id, known]));
    return logins;
  }

  /** A login ends when it was not used for thirty days, or at its last end. */
  #noteUse(known: Known): void {
    const nowMs = this.#deps.clock.nowMs();
    if (nowMs - known.notedAtMs < useIsNotedEveryMs) return;
    known.notedAtMs = nowMs;
    known.endsAtMs = Math.min(nowMs + loginMs, known.lastEndsAtMs);
    const used = { last_used_at: nowMs, ends_at: known.endsAtMs };
    const noting = changeRows(this.#deps.database.tables, "browser_logins", { id: known.id }, used)
      .then(
        () => {},
        (error: unknown) =>
          this.#deps.logger.warn(
            { login: known.id, error: String(error) },
            "the use of a login could not be recorded",
          ),
      )
      .finally(() => this.#notes.delete(noting));
    this.#notes.add(noting);
  }
}

/** Identifies a configured key without revealing it. */
export function markOfKey(key: string): string {
  return hash("sha256", key);
}

function secret(): string {
  return randomBytes(24).toString("base64url");
}

function digestOf(text: string, mark: string): string {
  return hash("sha256", `${mark}:${text}`);
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
