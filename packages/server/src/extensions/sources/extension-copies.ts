import { createHash } from "node:crypto";
import type { ApplicationDatabase } from "../../database/application-database.ts";
import { removeRows, rowsWith, type Wanted } from "../../database/rows.ts";
import type { Clock } from "../../lib/clock.ts";
import type { CopyFolders } from "./copy-folders.ts";
import type { GitSource } from "./extension-source.ts";
import { digestOf, packFolder, unpackFolder, type CopiedFile } from "./folder-content.ts";

export type ExtensionCopiesDeps = {
  readonly database: ApplicationDatabase;
  readonly folders: CopyFolders;
  readonly clock: Clock;
};

/** How long a copy that nothing uses stays, for the user who saw its preview. */
const unusedMs = 3_600_000;
/** Copies of one user that nothing uses; the oldest go first. */
const maxUnused = 20;

/** One copy of a user: `id` finds it again, and `digest` says what is in it. */
export type CopyName = { readonly id: string; readonly digest: string };

/**
 * The folders that users fetched from git, in the store, so that every node has them and a backup too. Programs find them below the data
 * folder of their node, where they are written when they are needed.
 */
export class ExtensionCopies {
  readonly folders: CopyFolders;
  readonly #database: ApplicationDatabase;
  readonly #clock: Clock;

  constructor({ database, folders, clock }: ExtensionCopiesDeps) {
    this.#database = database;
    this.folders = folders;
    this.#clock = clock;
  }

  /** Stores what was fetched; durable when it resolves. */
  async put(
    userId: string,
    source: GitSource,
    commit: string,
    fetched: readonly CopiedFile[],
  ): Promise<CopyName> {
    const label = labelOf(source, fetched);
    const files = fetched.map((file) => ({ ...file, path: `${label}/${file.path}` }));
    const name = { id: copyId(source, commit), digest: digestOf(files) };
    const created_at = this.#clock.nowMs();
    await this.#database.tables
      .insertInto("extension_copies")
      .values({ user_id: userId, ...name, label, content: packFolder(files), created_at })
      // What is in a commit never changes; only its age begins again.
      .onConflict((conflict) => conflict.columns(["user_id", "id"]).doUpdateSet({ created_at }))
      .execute();
    return name;
  }

  /** The copy of that commit; null when the user has none. */
  async find(userId: string, source: GitSource, commit: string): Promise<CopyName | null> {
    return (await this.#names({ user_id: userId, id: copyId(source, commit) }).executeTakeFirst()) ?? null;
  }

  /** What is in a copy, below its one folder; null when the user has none of this digest. */
  async filesOf(userId: string, digest: string): Promise<CopiedFile[] | null> {
    const row = await this.#rowOf(userId, digest);
    return row === undefined ? null : unpackFolder(row.content);
  }

  /** The folder of a copy on this machine, written unless it is there; null when the user has none of this digest. */
  async folderOf(userId: string, digest: string): Promise<string | null> {
    const known = await this.folders.find(userId, digest);
    if (known !== null) return known;
    const row = await this.#rowOf(userId, digest);
    if (row === undefined) return null;
    const { label, content } = row;
    return await this.folders.write(userId, { digest, label, read: () => unpackFolder(content) });
  }

  /** Removes from this machine what users removed at other nodes; call at the start. */
  async sweep(): Promise<void> {
    const digests = new Map<string, Set<string>>();
    for (const { user_id: userId, digest } of await this.#names({}).select("user_id").execute()) {
      const folder = this.folders.folderOf(userId);
      digests.set(folder, (digests.get(folder) ?? new Set()).add(digest));
    }
    await this.folders.sweep(digests);
  }

  /** Removes the copies of a user that nothing has used for a while, without those whose ids are in `used`. */
  async tidy(userId: string, used: ReadonlySet<string>): Promise<void> {
    const query = this.#names({ user_id: userId }).select("created_at");
    const rows = await query.orderBy("created_at", "desc").execute();
    const since = this.#clock.nowMs() - unusedMs;
    const unused = rows.filter(({ id }) => !used.has(id));
    const gone = unused.filter(({ created_at: at }, index) => at < since || index >= maxUnused);
    for (const { id } of gone) await this.remove(userId, id);
  }

  /** Removes one copy, and the folders of this machine whose content the user has no more. */
  async remove(userId: string, id: string): Promise<void> {
    await removeRows(this.#database.tables, "extension_copies", { user_id: userId, id });
    const rows = await this.#names({ user_id: userId }).execute();
    await this.folders.keepOnly(userId, new Set(rows.map(({ digest }) => digest)));
  }

  #rowOf(userId: string, digest: string) {
    const wanted = { user_id: userId, digest };
    return rowsWith(this.#database.tables, "extension_copies", wanted).limit(1).executeTakeFirst();
  }

  /** Without their content, which may be large. */
  #names(wanted: Wanted<"extension_copies">) {
    const query = rowsWith(this.#database.tables, "extension_copies", wanted);
    return query.clearSelect().select(["id", "digest"]);
  }
}

/** The name of the folder: what is in it may be named after it. At the root of a repository a skill says its own name. */
function labelOf({ address, inside }: GitSource, files: readonly CopiedFile[]): string {
  const skill = inside === "" ? files.find(({ path }) => /^skill\.md$/i.test(path)) : undefined;
  const head = /^---\r?\n([^]*?)\r?\n---/.exec(skill?.bytes.toString("utf8") ?? "")?.[1] ?? "";
  const [, own] = /^name: *["']?([a-z0-9]+(?:-[a-z0-9]+)*)["']? *$/m.exec(head) ?? [];
  const last = (inside === "" ? new URL(address).pathname : inside)
    .split("/")
    .findLast((part) => part !== "");
  const plain = (own ?? last ?? "").replace(/\.git$/, "").replaceAll(/[^\w.-]/g, "-");
  return /^\w/.test(plain) ? plain.slice(0, 100) : "extension";
}

/** The same for the same folder of the same commit, whatever reference led to it. */
function copyId({ address, inside }: Pick<GitSource, "address" | "inside">, commit: string): string {
  return createHash("sha256").update(`${address}\0${inside}\0${commit}`).digest("hex").slice(0, 32);
}
