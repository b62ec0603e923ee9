import { totalmem } from "node:os";
import type { ControlGroup, ControlGroups, GroupLimits } from "../sandboxes/control-groups/control-groups.ts";
import type { WallLimits } from "./walls-deps.ts";

export type WallGroupDeps = {
  readonly groups: Promise<ControlGroups>;
  /** See `ControlGroups.open`. */
  readonly name: string;
  readonly limits: WallLimits;
};

/** The limits of everything in one wall together, over all its starts. */
export class WallGroup {
  readonly #deps: WallGroupDeps;
  #open: ControlGroup | null = null;
  #closing: Promise<void> = Promise.resolve();
  /** Of earlier starts. */
  #memoryEnds = 0;

  constructor(deps: WallGroupDeps) {
    this.#deps = deps;
  }

  async open(): Promise<ControlGroup> {
    const { groups, name, limits } = this.#deps;
    await this.#closing;
    this.#open = await (await groups).open(name, groupLimits(limits));
    return this.#open;
  }

  /** How many processes of the wall were ended because all of them together were out of memory. */
  async countMemoryEnds(): Promise<number> {
    await this.#closing;
    return this.#memoryEnds + ((await this.#open?.countMemoryEnds()) ?? 0);
  }

  /** Ends what is left in it. Rejects when the group cannot be removed. */
  close(): Promise<void> {
    const group = this.#open;
    this.#open = null;
    const closing = group === null ? this.#closing : this.#closeGroup(group);
    this.#closing = closing.catch(() => undefined);
    return closing;
  }

  async #closeGroup(group: ControlGroup): Promise<void> {
    const { groups, name } = this.#deps;
    this.#memoryEnds += await group.countMemoryEnds();
    await (await groups).remove(name);
  }
}

/** What all processes of a wall may use together. */
export function groupLimits({ memoryMb, cpus, pids }: WallLimits): GroupLimits {
  return { memoryMb: memoryMb ?? Math.floor((machineMemoryMb() * 3) / 4), cpus, pids };
}

/** Megabytes of memory that this machine, or the container around this process, has. */
export function machineMemoryMb(): number {
  // 0 or more than there is where nothing bounds it.
  const bound = process.constrainedMemory();
  return Math.floor((bound > 0 ? Math.min(bound, totalmem()) : totalmem()) / (1024 * 1024));
}
