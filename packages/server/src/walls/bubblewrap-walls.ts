import { createHash } from "node:crypto";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { invalidField } from "../lib/fault.ts";
import type { ControlGroups } from "../sandboxes/control-groups/control-groups.ts";
import { BubblewrapWall } from "./bubblewrap-wall.ts";
import type { BubblewrapWallsDeps } from "./walls-deps.ts";
import { GitPlaces } from "./git-places.ts";
import { SharedTrust } from "./wall-egress.ts";
import { resolved, whyRefused } from "./refused-folder.ts";
import { HomeUses, isProcessAlive, processName } from "./home-uses.ts";
import { PrivateHomes } from "./private-homes.ts";
import { WallPlaces } from "./wall-places.ts";
import type { WalledHost, WallOrder, Walls } from "./wall.ts";

/** Less than a call waits for an unavailable tool host. */
const placeWaitMs = 20_000;

/** One wall of bubblewrap for each conversation that works on this machine. */
export class BubblewrapWalls implements Omit<Walls, "summary"> {
  readonly #deps: BubblewrapWallsDeps;
  /** Those that were used in the last minutes. */
  readonly #walls = new Map<string, BubblewrapWall>();
  #opened = 0;
  readonly #gitPlaces = new GitPlaces();
  readonly #trust = new SharedTrust();
  readonly #groups: Promise<ControlGroups>;
  readonly #places: WallPlaces;
  readonly #homes: PrivateHomes;
  readonly #dataDir: string;
  readonly #runDir: string;

  private constructor(deps: BubblewrapWallsDeps, dataDir: string, runDir: string) {
    this.#deps = deps;
    this.#dataDir = dataDir;
    this.#runDir = runDir;
    this.#groups = deps.openControlGroups();
    const homesDir = join(dataDir, "walls", "homes");
    const uses = new HomeUses({ homesDir, runsDir: dirname(runDir) });
    this.#homes = new PrivateHomes({ homesDir, uses, limits: deps.homes, logger: deps.logger });
    this.#homes.start();
    this.#places = new WallPlaces({ max: deps.maxRunning, waitMs: deps.placeWaitMs ?? placeWaitMs });
  }

  /** Removes what processes left that ended without doing so. */
  static async open(deps: BubblewrapWallsDeps): Promise<BubblewrapWalls> {
    const dataDir = await resolved(deps.dataDir);
    const folder = join(dataDir, "walls", "run");
    await mkdir(folder, { recursive: true, mode: 0o711 });
    for (const name of await readdir(folder)) {
      if (!isProcessAlive(name)) await rm(join(folder, name), { recursive: true, force: true });
    }
    const runDir = join(folder, processName());
    await mkdir(runDir, { recursive: true, mode: 0o711 });
    return new BubblewrapWalls(deps, dataDir, runDir);
  }

  async open(order: WallOrder): Promise<WalledHost> {
    const folder = await resolved(order.folder);
    const reason = await this.#whyRefused(folder);
    if (reason !== null) throw invalidField(["body", "workspace", "working_dir"], reason);
    const known = this.#walls.get(order.rootId);
    if (known?.isFor(order, folder) === true) {
      known.grant(order.granted);
      return known;
    }
    const { rootId } = order;
    const wall = new BubblewrapWall({
      ...this.#deps,
      order,
      folder,
      dataDir: this.#dataDir,
      // A folder of its own: the settings of the conversation may have changed, and its wall of before may still be ending.
      root: join(this.#runDir, `${digestOf(rootId)}-${(this.#opened += 1)}`),
      home: join(this.#dataDir, "walls", "homes", digestOf(`${order.ownerId}\0${folder}`)),
      state: this.#stateOf(rootId),
      gitPlaces: this.#gitPlaces,
      trust: this.#trust,
      groups: this.#groups,
      places: this.#places,
      privateHomes: this.#homes,
      onRest: () => this.#forget(rootId, wall),
    });
    // Before anything is awaited, so that concurrent callers get the same wall.
    this.#walls.set(rootId, wall);
    if (known !== undefined) await known[Symbol.asyncDispose]();
    return wall;
  }

  async isRefused(folder: string): Promise<boolean> {
    return (await this.#whyRefused(await resolved(folder))) !== null;
  }

  async #whyRefused(folder: string): Promise<string | null> {
    const home = this.#deps.environment["HOME"];
    return whyRefused(folder, {
      dataDir: this.#dataDir,
      home: home === undefined ? null : await resolved(home),
    });
  }

  async isAsRoot(folder: string): Promise<boolean> {
    if (this.#deps.self.uid !== 0) return false;
    return await stat(folder).then(
      ({ uid }) => uid === 0,
      // It is made by the server, as root.
      () => true,
    );
  }

  async limits(): Promise<ControlGroups> {
    return await this.#groups;
  }

  countRunning(): number {
    return [...this.#walls.values()].filter((wall) => wall.isRunning).length;
  }

  async remove(rootId: string): Promise<void> {
    const wall = this.#walls.get(rootId);
    this.#walls.delete(rootId);
    await wall?.[Symbol.asyncDispose]();
    await rm(this.#stateOf(rootId), { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#walls.values()].map((wall) => wall[Symbol.asyncDispose]()));
    await this.#homes[Symbol.asyncDispose]();
    await rm(this.#runDir, { recursive: true, force: true });
  }

  #forget(rootId: string, wall: BubblewrapWall): void {
    if (this.#walls.get(rootId) === wall) this.#walls.delete(rootId);
  }

  #stateOf(rootId: string): string {
    return join(this.#dataDir, "conversations", rootId, "wall");
  }
}

/** Short, because the path of a socket may have a hundred characters only. */
function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
