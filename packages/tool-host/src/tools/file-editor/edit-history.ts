import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The last edits of each file, stored on disk so that they can be undone after a restart. */
export class EditHistory {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Stores the content that `written` is about to replace (null: no file); call it before writing. */
  async push(path: string, previous: Uint8Array | null, written: Uint8Array): Promise<PastEdit> {
    const dir = this.#dirOf(path);
    await mkdir(dir, { recursive: true });
    const names = await entryNames(dir);
    const number = Number.parseInt(names.at(-1) ?? "0", 10) + 1;
    const name = String(number).padStart(8, "0") + (previous === null ? creationSuffix : "");
    await writeFile(join(dir, name), previous ?? digest(written));
    for (const old of names.slice(0, Math.max(0, names.length + 1 - maxEdits))) await unlink(join(dir, old));
    return pastEdit(dir, name);
  }

  /** The edit that an undo would revert. */
  async latest(path: string): Promise<PastEdit | undefined> {
    const dir = this.#dirOf(path);
    const name = (await entryNames(dir)).at(-1);
    return name === undefined ? undefined : pastEdit(dir, name);
  }

  #dirOf(path: string): string {
    return join(this.#dir, digest(path).slice(0, 32));
  }
}

/** One stored edit. */
export type PastEdit = {
  /** The bytes before the edit; null when the edit created the file. */
  readonly previous: () => Promise<Buffer | null>;
  /** For a created file: whether it still has the bytes that were written. */
  readonly isAsCreated: (current: Uint8Array) => Promise<boolean>;
  /** Deletes the edit, after it was undone or could not be made. */
  readonly drop: () => Promise<void>;
};

const maxEdits = 10;
const creationSuffix = ".created";

function pastEdit(dir: string, name: string): PastEdit {
  const path = join(dir, name);
  const isCreation = name.endsWith(creationSuffix);
  return {
    previous: async () => (isCreation ? null : readFile(path)),
    isAsCreated: async (current) => isCreation && (await readFile(path, "utf8")) === digest(current),
    drop: async () => unlink(path),
  };
}

/** Oldest first; without a directory there are no edits. */
async function entryNames(dir: string): Promise<string[]> {
  try {
    return (await readdir(dir)).sort();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

function digest(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
