import { isDeepStrictEqual } from "node:util";
import type { Kysely, Selectable } from "kysely";
import type { RevisionAuthor } from "@convoke/protocol";
import type { Tables } from "../database/tables.ts";
import { digestOf } from "./profile-content.ts";
import type { NamedProfile, ProfileChange, ProfileKind } from "./profile-changes.ts";
import type { JsonObject } from "./stored-settings.ts";
import { addRow, removeRows, rowsWith } from "../database/rows.ts";
import type { SealedStoreDeps } from "./store-deps.ts";

type Row = Selectable<Tables["profile_revisions"]>;

/** Revisions of one profile that are stored, besides those that conversations name. */
export const maxRevisions = 100;

/** What a profile was; it never changes. */
export type Revision = Pick<Row, "change" | "digest"> & {
  readonly number: number;
  readonly name: string;
  readonly restoredFrom: number | null;
  readonly author: RevisionAuthor | null;
  readonly createdAtMs: number;
  readonly isPinned: boolean;
  readonly content: JsonObject;
};

/** Who changes a profile, and which revision it is made of where it is a copy. */
export type RevisionOrigin = {
  readonly author: RevisionAuthor | null;
  readonly restoredFrom?: number;
};

/** A profile of a user, by what it is found by. */
export type ProfileKey = { readonly userId: string; readonly kind: ProfileKind; readonly id: string };

type Reader = Pick<Kysely<Tables>, "selectFrom">;
type Writer = Pick<Kysely<Tables>, "deleteFrom" | "insertInto" | "selectFrom">;

/**
 * The revisions of stored profiles. They are written in the transaction that changes the settings. A profile from before there were
 * revisions gets its first one when it changes, is pinned or its history is read.
 */
export class RevisionStore {
  readonly #deps: SealedStoreDeps;

  constructor(deps: SealedStoreDeps) {
    this.#deps = deps;
  }

  /** Writes what a change of a user's settings makes of a profile; call inside the transaction of that change. */
  async record(
    tables: Writer,
    userId: string,
    { kind, id, before, after }: ProfileChange,
    { author, restoredFrom }: RevisionOrigin,
  ): Promise<void> {
    const key = { userId, kind, id };
    if (after === null) {
      await removeUnpinned(tables, key, 0);
      return;
    }
    const last = before === null ? await newestOf(tables, key) : await this.ensure(tables, userId, before);
    const isRenamed = before !== null && isDeepStrictEqual(before.content, after.content);
    const change = restoredFrom === undefined ? (isRenamed ? "renamed" : "saved") : "restored";
    await this.#insert(tables, userId, after, last, {
      change,
      restored_from: restoredFrom ?? null,
      created_by: author === null ? null : JSON.stringify(author),
    });
    await removeUnpinned(tables, key, maxRevisions);
  }

  /** The newest row, which has the content of the profile; written where it is missing. Call inside a transaction. */
  async ensure(tables: Writer, userId: string, profile: NamedProfile): Promise<Row> {
    const last = await newestOf(tables, { ...profile, userId });
    if (last !== null && this.#isOf(last, profile)) return last;
    return await this.#insert(tables, userId, profile, last, {
      change: "found",
      restored_from: null,
      created_by: null,
    });
  }

  /** Number and digest of the newest revision, whether or not it is written. */
  async current(
    userId: string,
    profile: NamedProfile,
  ): Promise<{ readonly number: number; readonly digest: string }> {
    const last = await newestOf(this.#deps.database.tables, { ...profile, userId });
    const number = last !== null && this.#isOf(last, profile) ? last.number : nextNumber(profile, last);
    return { number, digest: digestOf(profile.content) };
  }

  /** The newest first, below a number where one is given. */
  async list(key: ProfileKey, limit: number, below: number | null): Promise<Revision[]> {
    const { tables } = this.#deps.database;
    const rows = await rowsOf(tables, key)
      .$if(below !== null, (query) => query.where("number", "<", below!))
      .orderBy("number", "desc")
      .limit(limit)
      .execute();
    const pinned = await pinnedNumbers(tables, key);
    return rows.map((row) => this.#open(row, pinned));
  }

  async find(key: ProfileKey, number: number): Promise<Revision | null> {
    const { tables } = this.#deps.database;
    const row = await rowsOf(tables, key).where("number", "=", number).executeTakeFirst();
    return row === undefined ? null : this.#open(row, await pinnedNumbers(tables, key));
  }

  /** What a deleted profile of this name was found by, where a conversation names one of its revisions; null otherwise. */
  async findDeleted(userId: string, kind: ProfileKind, name: string): Promise<string | null> {
    const { tables } = this.#deps.database;
    const query = rowsWith(tables, "profile_revisions", { user_id: userId, kind, name });
    return (await query.orderBy("created_at", "desc").executeTakeFirst())?.profile ?? null;
  }

  async #insert(
    tables: Writer,
    userId: string,
    profile: NamedProfile,
    last: Row | null,
    how: Pick<Row, "change" | "created_by" | "restored_from">,
  ): Promise<Row> {
    const { secretBox, clock } = this.#deps;
    const row: Row = {
      user_id: userId,
      kind: profile.kind,
      profile: profile.id,
      number: nextNumber(profile, last),
      name: profile.name,
      digest: digestOf(profile.content),
      sealed_content: secretBox.seal(JSON.stringify(profile.content)),
      created_at: clock.nowMs(),
      ...how,
    };
    await addRow(tables, "profile_revisions", row);
    return row;
  }

  #isOf(row: Row, { name, content }: NamedProfile): boolean {
    return row.name === name && isDeepStrictEqual(this.#contentOf(row), content);
  }

  #contentOf(row: Row): JsonObject {
    return JSON.parse(this.#deps.secretBox.unseal(row.sealed_content)) as JsonObject;
  }

  #open(row: Row, pinned: ReadonlySet<number>): Revision {
    return {
      number: row.number,
      name: row.name,
      change: row.change,
      restoredFrom: row.restored_from,
      digest: row.digest,
      author: row.created_by === null ? null : (JSON.parse(row.created_by) as RevisionAuthor),
      createdAtMs: row.created_at,
      isPinned: pinned.has(row.number),
      content: this.#contentOf(row),
    };
  }
}

/** An agent profile has a number of its own, which clients see. */
function nextNumber({ kind, content }: NamedProfile, last: Pick<Row, "number"> | null): number {
  return kind === "agent" ? Number(content["revision"] ?? 0) : (last?.number ?? 0) + 1;
}

function rowsOf(tables: Reader, { userId, kind, id }: ProfileKey) {
  return rowsWith(tables, "profile_revisions", { user_id: userId, kind, profile: id });
}

async function newestOf(tables: Reader, key: ProfileKey): Promise<Row | null> {
  return (await rowsOf(tables, key).orderBy("number", "desc").limit(1).executeTakeFirst()) ?? null;
}

async function pinnedNumbers(tables: Reader, { userId, kind, id }: ProfileKey): Promise<ReadonlySet<number>> {
  const rows = await rowsWith(tables, "revision_pins", { user_id: userId, kind, profile: id }).execute();
  return new Set(rows.map(({ number }) => number));
}

/** Leaves the newest ones, and those that conversations name. */
async function removeUnpinned(tables: Writer, key: ProfileKey, left: number): Promise<void> {
  const { userId, kind, id } = key;
  const old = await rowsOf(tables, key).orderBy("number", "desc").offset(left).limit(1_000).execute();
  if (old.length === 0) return;
  const pinned = await pinnedNumbers(tables, key);
  const removed = old.map(({ number }) => number).filter((number) => !pinned.has(number));
  if (removed.length === 0) return;
  await removeRows(tables, "profile_revisions", { user_id: userId, kind, profile: id, number: removed });
}
