import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

type Entry = { readonly folder: string; readonly text: string };

const maxEntries = 1_000;

/** What a person sent before, each folder's own; stored in a file that only they can read. */
export class History {
  readonly #file: string;
  readonly #folder: string;
  #entries: readonly Entry[];
  /** How far back the person is; 0: at what they are writing. */
  #back = 0;
  #draft = "";

  private constructor(file: string, folder: string, entries: readonly Entry[]) {
    this.#file = file;
    this.#folder = folder;
    this.#entries = entries;
  }

  static async open(file: string, folder: string): Promise<History> {
    return new History(file, folder, await readEntries(file));
  }

  /** Of this folder, the newest first. */
  texts(): readonly string[] {
    const texts = this.#entries.filter(({ folder }) => folder === this.#folder).map(({ text }) => text);
    return [...new Set(texts.toReversed())];
  }

  /** The text before the one that is shown; null when there is none. `current` is what the person has written. */
  older(current: string): string | null {
    const text = this.texts()[this.#back];
    if (text === undefined) return null;
    if (this.#back === 0) this.#draft = current;
    this.#back += 1;
    return text;
  }

  newer(): string | null {
    if (this.#back === 0) return null;
    this.#back -= 1;
    return this.#back === 0 ? this.#draft : this.texts()[this.#back - 1]!;
  }

  /** Stores a text; one that begins with a space is not stored. */
  async add(text: string): Promise<void> {
    this.#back = 0;
    if (text.startsWith(" ") || text.trim() === "" || this.texts()[0] === text) return;
    const entry = { folder: this.#folder, text };
    this.#entries = [...this.#entries, entry].slice(-maxEntries);
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    const isFull = this.#entries.length === maxEntries;
    const lines = (isFull ? this.#entries : [entry]).map((one) => `${JSON.stringify(one)}\n`).join("");
    await (isFull ? writeFile : appendFile)(this.#file, lines, { mode: 0o600 });
  }
}

async function readEntries(file: string): Promise<readonly Entry[]> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  return text
    .split("\n")
    .flatMap((line) => entryOf(line))
    .slice(-maxEntries);
}

/** A line that was cut off is left out. */
function entryOf(line: string): Entry[] {
  try {
    const { folder, text } = JSON.parse(line) as Partial<Entry>;
    return typeof folder === "string" && typeof text === "string" ? [{ folder, text }] : [];
  } catch {
    return [];
  }
}
