import type { StartedWallsDeps } from "./walls-deps.ts";
import type { LeftBehind } from "@convoke/protocol";
import type { WalledHost, WallKind, WallOrder, Walls } from "./wall.ts";

type LoadedWalls = Omit<Walls, "summary" | "kind">;

/** Walls whose code is loaded at their first use: a server answers without it. */
export class LateWalls implements Walls {
  readonly summary: string;
  readonly kind: WallKind;
  readonly #deps: StartedWallsDeps;
  #opened: Promise<LoadedWalls> | null = null;
  #loaded: LoadedWalls | null = null;

  constructor(deps: StartedWallsDeps) {
    this.#deps = deps;
    this.kind = deps.kind;
    const kind = deps.kind === "docker" ? `docker, containers of ${deps.containers.image}` : deps.kind;
    this.summary = `${kind}: each conversation writes to its working folder only, and sees no keys`;
  }

  async open(order: WallOrder): Promise<WalledHost> {
    return await (await this.#load()).open(order);
  }

  async isRefused(folder: string): Promise<boolean> {
    return await (await this.#load()).isRefused(folder);
  }

  async isAsRoot(folder: string): Promise<boolean> {
    return await (await this.#load()).isAsRoot(folder);
  }

  async findLeftBehind(rootId: string): Promise<LeftBehind | null> {
    return (await this.#loaded?.findLeftBehind(rootId)) ?? null;
  }

  countLeftBehind(rootId: string): number | null {
    return this.#loaded?.countLeftBehind(rootId) ?? null;
  }

  async limits(kind: WallKind): ReturnType<Walls["limits"]> {
    return await (await this.#load()).limits(kind);
  }

  countRunning(): number {
    return this.#loaded?.countRunning() ?? 0;
  }

  async remove(rootId: string): Promise<void> {
    await (await this.#load()).remove(rootId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#opened?.catch(() => null))?.[Symbol.asyncDispose]();
  }

  async #load(): Promise<LoadedWalls> {
    this.#opened ??= this.#open();
    const opening = this.#opened;
    try {
      return await opening;
    } catch (error) {
      // Perhaps the disk was full for a moment.
      if (this.#opened === opening) this.#opened = null;
      throw error;
    }
  }

  async #open(): Promise<LoadedWalls> {
    const { StartedWalls } = await import("./started-walls.ts");
    return (this.#loaded = await StartedWalls.open(this.#deps));
  }
}
