import type { ParsedSkill } from "./parse-skill.ts";
import type { WorkspaceFiles } from "./workspace-files.ts";

/** What skills are read with. */
export type SkillFiles = WorkspaceFiles & {
  /** Those that were read before; without it each file is read each time. */
  readonly keptSkills?: KeptSkills;
};

/** What a file says of itself without being read. */
type FileStamp = { readonly sizeBytes: number; readonly modifiedAtMs: number };

type CachedSkill = FileStamp & { readonly parsed: ParsedSkill; readonly characters: number };

/** Of all skills that are kept; the longest unused go first. */
const maxCharacters = 2 * 1024 * 1024;

/**
 * A file that was written so shortly before it was read is not kept: it may be written again, with the same length, within the same tick of
 * the clock of its file system.
 */
const settledMs = 2_000;

/** Null when the file is not there, and when nobody keeps anything. */
export async function stampOf(files: SkillFiles, path: string): Promise<FileStamp | null> {
  if (files.keptSkills === undefined) return null;
  try {
    return await files.stat(path);
  } catch {
    // Not there, or nobody may look: whoever reads it tells.
    return null;
  }
}

/** Skills as they were parsed, by the path of their file, until the file changes; of one machine. */
export class KeptSkills {
  readonly #nowMs: () => number;
  readonly #cached = new Map<string, CachedSkill>();
  #characters = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Null unless it was read when the file was as it is now. */
  find(path: string, stamp: FileStamp): ParsedSkill | null {
    const found = this.#cached.get(path);
    if (found === undefined) return null;
    this.#forget(path, found);
    if (found.sizeBytes !== stamp.sizeBytes || found.modifiedAtMs !== stamp.modifiedAtMs) return null;
    this.#put(path, found);
    return found.parsed;
  }

  /** `stamp` is from before the reading. What is wrong with a file is found out each time: a busy machine may be the reason. */
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
