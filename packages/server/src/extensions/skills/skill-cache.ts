import type { ParsedSkill } from "./parse-skill.ts";
import type { WorkspaceFiles } from "./workspace-files.ts";

/** What skills are read with. */
export type SkillFiles = WorkspaceFiles & {
  /** The cache of parsed skills; without it each file is read each time. */
  readonly skillCache?: SkillCache;
};

/** The size and times of a file, from its metadata. */
type FileStamp = { readonly sizeBytes: number; readonly modifiedAtMs: number };

type CachedSkill = FileStamp & { readonly parsed: ParsedSkill; readonly characters: number };

/** The maximum of all cached skills; the least recently used are dropped first. */
const maxCharacters = 2 * 1024 * 1024;

/**
 * A file that was written this shortly before it was read is not cached: another write of the same length may get the
 * same time stamp.
 */
const settledMs = 2_000;

/** Null when the file does not exist, and without a cache. */
export async function stampOf(files: SkillFiles, path: string): Promise<FileStamp | null> {
  if (files.skillCache === undefined) return null;
  try {
    return await files.stat(path);
  } catch {
    // Missing or unreadable: the reader of the file reports it.
    return null;
  }
}

/** A cache of the parsed skills of one machine, by path, until the file changes. */
export class SkillCache {
  readonly #nowMs: () => number;
  readonly #cached = new Map<string, CachedSkill>();
  #characters = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Null unless the cached skill has the same stamp. */
  find(path: string, stamp: FileStamp): ParsedSkill | null {
    const found = this.#cached.get(path);
    if (found === undefined) return null;
    this.#forget(path, found);
    if (found.sizeBytes !== stamp.sizeBytes || found.modifiedAtMs !== stamp.modifiedAtMs) return null;
    this.#put(path, found);
    return found.parsed;
  }

  /** `stamp` must be from before the read. Failures are not cached: a busy machine may be the reason. */
  keep(path: string, stamp: FileStamp, parsed: ParsedSkill): void {
    if (!parsed.ok || this.#nowMs() - stamp.modifiedAtMs < settledMs) return;
    const before = this.#cached.get(path);
    if (before !== undefined) this.#forget(path, before);
    const { sizeBytes, modifiedAtMs } = stamp;
    this.#put(path, { sizeBytes, modifiedAtMs, parsed, characters: JSON.stringify(parsed.skill).length });
    for (const [oldest, found] of this.#cached) {
      if (this.#characters <= maxCharacters) break;
      this.#forget(oldest, found);
    }
  }

  #put(path: string, found: CachedSkill): void {
    this.#cached.set(path, found);
    this.#characters += found.characters;
  }

  #forget(path: string, found: CachedSkill): void {
    this.#cached.delete(path);
    this.#characters -= found.characters;
  }
}
