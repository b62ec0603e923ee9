import { createHash, randomUUID } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { digestOf, type CopiedFile } from "./folder-content.ts";

/** The copies of each user below the data folder of this machine, by the digest of what is in them. */
export class CopyFolders {
  readonly #root: string;
  /** Paths of those that this process has compared with their digest. */
  readonly #checked = new Set<string>();
  /** Folders are written and removed one after another. */
  #work: Promise<unknown> = Promise.resolve();

  /** `dataDir` is absolute. */
  constructor(dataDir: string) {
    this.#root = join(dataDir, "extensions");
  }

  /** Where all copies of a user are; nobody else's are in it. It need not be there. */
  folderOf(userId: string): string {
    return join(this.#root, createHash("sha256").update(userId).digest("hex").slice(0, 16));
  }

  pathOf(userId: string, digest: string): string {
    return join(this.folderOf(userId), digest);
  }

  /** Makes {@link folderOf}. Programs behind walls may belong to another user of the machine. */
  async make(userId: string): Promise<string> {
    const folder = this.folderOf(userId);
    await mkdir(this.#root, { recursive: true, mode: 0o711 });
    await mkdir(folder, { recursive: true, mode: 0o755 });
    return folder;
  }

  /** Makes the folder, unless it is there and whole: a power cut can leave one with empty files. Resolves with its path. */
  async write(userId: string, digest: string, read: () => readonly CopiedFile[]): Promise<string> {
    return await this.#next(async () => {
      const path = this.pathOf(userId, digest);
      if (this.#checked.has(path) && (await isThere(path))) return path;
      if ((await digestOfFolder(path)) !== digest) await this.#replace(await this.make(userId), path, read());
      this.#checked.add(path);
      return path;
    });
  }

  /** Removes all other folders of a user, and what processes left that were killed. */
  async keepOnly(userId: string, digests: ReadonlySet<string>): Promise<void> {
    await this.#next(async () => {
      const folder = this.folderOf(userId);
      for (const name of (await namesIn(folder)).filter((other) => !digests.has(other))) {
        this.#checked.delete(join(folder, name));
        await rm(join(folder, name), { recursive: true, force: true });
      }
    });
  }

  async #replace(folder: string, path: string, files: readonly CopiedFile[]): Promise<void> {
    const draft = join(folder, `.${randomUUID()}`);
    await mkdir(draft, { mode: 0o755 });
    for (const { path: name, isExecutable, bytes } of files) {
      const file = join(draft, name);
      await mkdir(dirname(file), { recursive: true, mode: 0o755 });
      await writeFile(file, bytes, { flag: "wx" });
      await chmod(file, isExecutable ? 0o755 : 0o644);
    }
    await rm(path, { recursive: true, force: true });
    await rename(draft, path);
  }

  async #next<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#work.then(work);
    // The caller gets the error; the next one is not held up.
    this.#work = done.catch(() => {});
    return await done;
  }
}

/** Null when the folder is not there, or has something that no copy has. */
async function digestOfFolder(root: string): Promise<string | null> {
  if (!(await isThere(root))) return null;
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files: CopiedFile[] = [];
  for (const entry of entries) {
    if (entry.isDirectory()) continue;
    if (!entry.isFile()) return null;
    const path = join(entry.parentPath, entry.name);
    const isExecutable = ((await stat(path)).mode & 0o100) !== 0;
    files.push({ path: relative(root, path), isExecutable, bytes: await readFile(path) });
  }
  return digestOf(files);
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );
}

async function namesIn(folder: string): Promise<string[]> {
  return (await isThere(folder)) ? await readdir(folder) : [];
}
