import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { LeftBehind } from "@convoke/protocol";
import { readIfThere } from "../lib/read-if-there.ts";
import { SharedRound } from "../lib/shared-round.ts";
import { writeOnce } from "../lib/write-once.ts";
import { findSelfStarting, type SelfStartingFiles } from "./find-self-starting.ts";
import { selfStarting } from "./self-starting.ts";

export type LeftBehindPlace = {
  /** Absolute, without links. */
  readonly folder: string;
  /** Names at its top that a wall leaves writable. */
  readonly unlocked: readonly string[];
};

/** Max files that are listed; the count has them all. */
const maxListed = 100;
const names: ReadonlySet<string> = new Set(selfStarting);

/**
 * What the agent of a conversation has left in its folder that programs of the person would run later, outside of the wall. It is told and
 * not prevented: a mount over a file that does not exist would leave an empty file on the person's disk. The files that were there before
 * are recorded once for each conversation and folder, outside of its wall.
 */
export class LeftBehindFiles {
  readonly #place: LeftBehindPlace;
  readonly #record: string;
  readonly #round: SharedRound;
  #found: LeftBehind | null = null;

  /** `recordsDir`: absolute, nothing of it shows behind a wall. */
  constructor(recordsDir: string, place: LeftBehindPlace) {
    this.#place = place;
    this.#record = join(recordsDir, `before-${digestOf(place.folder)}.json`);
    this.#round = new SharedRound(async () => void (this.#found = await this.#compare()));
  }

  isFor(place: LeftBehindPlace): boolean {
    return isDeepStrictEqual(place, this.#place);
  }

  /** Records what is there, unless that was done before. To be awaited before the agent may change anything. */
  async begin(): Promise<void> {
    await this.#readBefore();
  }

  /** Searches the folder now. */
  async find(): Promise<LeftBehind> {
    await this.#round.ask();
    return this.#found!;
  }

  /** How many files the last search found; null before the first one. */
  get count(): number | null {
    return this.#found?.count ?? null;
  }

  async #compare(): Promise<LeftBehind> {
    const before = await this.#readBefore();
    const guarded = guardedOf(before, this.#place.unlocked);
    const now = await findSelfStarting(this.#place.folder);
    const files = [...now.files]
      .filter(([path, { mark, reason }]) => {
        // The steps of a rebase stay writable.
        return before.get(path) !== mark && (reason === "rebase" || !guarded.has(topOf(path)));
      })
      .map(([path, { reason }]) => ({ path, reason, is_new: !before.has(path) }))
      .toSorted((one, other) => (one.path < other.path ? -1 : 1));
    return { files: files.slice(0, maxListed), count: files.length, is_complete: now.isComplete };
  }

  async #readBefore(): Promise<ReadonlyMap<string, string>> {
    const known = await readIfThere(this.#record);
    if (known !== null) return new Map(Object.entries(JSON.parse(known) as Record<string, string>));
    const marks = marksOf(await findSelfStarting(this.#place.folder));
    await mkdir(dirname(this.#record), { recursive: true, mode: 0o700 });
    await writeOnce(this.#record, JSON.stringify(Object.fromEntries(marks)));
    return marks;
  }
}

function marksOf({ files }: SelfStartingFiles): ReadonlyMap<string, string> {
  return new Map([...files].map(([path, { mark }]) => [path, mark]));
}

/** Files and folders at the top that were there before. Every wall has kept them read-only: who changed them was not the agent. */
function guardedOf(before: ReadonlyMap<string, string>, unlocked: readonly string[]): ReadonlySet<string> {
  const tops = [...before.keys()].map(topOf).filter((top) => top === ".git" || names.has(top));
  return new Set(tops.filter((top) => !unlocked.includes(top)));
}

function topOf(path: string): string {
  return path.split("/", 1)[0] ?? path;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
