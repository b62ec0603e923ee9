import { describeError } from "../lib/describe-error.ts";
import type { Logger } from "../lib/logger.ts";
import { groupLimits, type WallGroup } from "./wall-group.ts";
import type { WallLimits } from "./walls-deps.ts";

export type WallNotesDeps = {
  readonly group: WallGroup;
  readonly limits: WallLimits;
  /** What there is to tell about the private home since it was asked last. */
  readonly takeHomeNote: () => string | null;
  readonly logger: Logger;
};

/** What the agent behind a wall has to know after a call. */
export class WallNotes {
  readonly #deps: WallNotesDeps;
  readonly #waiting: string[] = [];

  constructor(deps: WallNotesDeps) {
    this.#deps = deps;
  }

  /** See `WalledHost`. */
  async beginCall(): Promise<() => Promise<string>> {
    const { limits, takeHomeNote } = this.#deps;
    const before = await this.#countMemoryEnds();
    return async () => {
      const ended = (await this.#countMemoryEnds()) - before;
      const memory = ended > 0 ? [outOfMemory(ended, groupLimits(limits).memoryMb)] : [];
      return [this.#waiting.splice(0), takeHomeNote() ?? [], memory].flat().join("\n");
    };
  }

  /** The wall was ended for another one while a session was open in it. */
  addYielded(): void {
    this.#waiting.push(
      "Wall: this server ended the idle wall of this conversation for another one (CONVOKE_MAX_WALLS). What ran in the background has ended, and terminals are new.",
    );
  }

  async #countMemoryEnds(): Promise<number> {
    return await this.#deps.group.countMemoryEnds().catch((error: unknown) => {
      this.#deps.logger.warn({ error: describeError(error) }, "the memory of a wall could not be read");
      return 0;
    });
  }
}

function outOfMemory(count: number, memoryMb: number): string {
  const processes = count === 1 ? "a process was" : `${count} processes were`;
  return `Memory: ${processes} ended, because everything behind this wall together reached its limit of ${memoryMb} MB (CONVOKE_WALL_MEMORY_MB of the server). Use less at a time, such as fewer jobs.`;
}
