import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The last edits of each file, kept on disk so that they can be taken back after a restart. */
export class EditHistory {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Remembers what a file was before `written` replaces it (null: there was no file); call it before writing. */
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

  /** The edit that an undo would take back. */
  async latest(path: string): Promise<PastEdit | undefined> {
    const dir = this.#dirOf(path);
    const name = (await entryNames(dir)).at(-1);
    return name === undefined ? undefined : pastEdit(dir, name);
  }

  #dirOf(path: string): string {
    return join(this.#dir, digest(path).slice(0, 32));
  }
}

/** One remembered edit. */
export type PastEdit = {
  /** The bytes before the edit; null when the edit created the file. */
  readonly previous: () => Promise<Buffer | null>;
  /** For a creation: whether these are still the bytes it wrote. */
  readonly isAsCreated: (current: Uint8Array) => Promise<boolean>;
  /** Forgets the edit, once it is taken back or was never made. */
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

/** Oldest first; no directory means no edits yet. */
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
