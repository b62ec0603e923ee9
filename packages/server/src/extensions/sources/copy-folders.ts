import { createHash, randomUUID } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { digestOf, type CopiedFile } from "./folder-content.ts";
import { ifThere } from "../../lib/if-there.ts";
import { Mailbox } from "../../lib/mailbox.ts";

/** The copies of each user below the data folder of this machine, by the digest of what is in them. */
export class CopyFolders {
  readonly #root: string;
  /** Paths of those that this process has compared with their digest, and the one folder in each. */
  readonly #checked = new Map<string, string>();
  readonly #made = new Set<string>();
  /** Folders are written and removed one after another. */
  readonly #work = new Mailbox();

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
    if (this.#made.has(folder)) return folder;
    await mkdir(this.#root, { recursive: true, mode: 0o711 });
    await mkdir(folder, { recursive: true, mode: 0o755 });
    this.#made.add(folder);
    return folder;
  }

  /** A copy that is here and was compared with its digest; null for none. */
  async find(userId: string, digest: string): Promise<string | null> {
    const path = this.pathOf(userId, digest);
    const label = this.#checked.get(path);
    return label !== undefined && (await isThere(path)) ? join(path, label) : null;
  }

  /**
   * Makes a copy, unless it is here and whole: a power cut can leave one with empty files. `label` is its one folder, below which all
   * files are. Resolves with the path of that.
   */
  async write(
    userId: string,
    { digest, label, read }: { digest: string; label: string; read: () => readonly CopiedFile[] },
  ): Promise<string> {
    return await this.#work.post(async () => {
      const path = this.pathOf(userId, digest);
      if ((await digestOfFolder(path)) !== digest) await this.#replace(await this.make(userId), path, read());
      this.#checked.set(path, label);
      return join(path, label);
    });
  }

  /** Removes the folders of all users that have no copy, and their copies that are not in `digests`, by the name of their folder. */
  async sweep(digests: ReadonlyMap<string, ReadonlySet<string>>): Promise<void> {
    for (const name of await namesIn(this.#root)) {
      const folder = join(this.#root, name);
      const wanted = digests.get(folder);
      if (wanted !== undefined) await this.#keepOnly(folder, wanted);
      else await this.#work.post(() => rm(folder, { recursive: true, force: true }));
    }
  }

  /** Removes all other folders of a user, and what processes left that were killed. */
  async keepOnly(userId: string, digests: ReadonlySet<string>): Promise<void> {
    await this.#keepOnly(this.folderOf(userId), digests);
  }

  async #keepOnly(folder: string, digests: ReadonlySet<string>): Promise<void> {
    await this.#work.post(async () => {
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
  return (await ifThere(stat(path), null))?.isDirectory() === true;
}

async function namesIn(folder: string): Promise<string[]> {
  return (await isThere(folder)) ? await readdir(folder) : [];
}
