import { createHash } from "node:crypto";
import { mkdir, readdir, rm, rmdir, stat } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import type { LeftBehind } from "@convoke/protocol";
import { invalidField } from "../lib/fault.ts";
import type { ControlGroups } from "../sandboxes/control-groups/control-groups.ts";
import { ConversationWall } from "./conversation-wall.ts";
import type { StartedWallsDeps } from "./walls-deps.ts";
import { GitPlaces } from "./git-places.ts";
import { KnownTools } from "./known-tools.ts";
import { LeftBehindFiles, type LeftBehindPlace } from "./left-behind.ts";
import { SharedTrust } from "../egress/way-out.ts";
import { resolved, whyNotShown, whyRefused, type FolderPlaces } from "./refused-folder.ts";
import { HomeUses, isProcessAlive, processName } from "./home-uses.ts";
import { PrivateHomes } from "./private-homes.ts";
import { UserPlaces } from "./user-places.ts";
import { WallPlaces } from "./wall-places.ts";
import type { WalledHost, WallKind, WallOrder, Walls } from "./wall.ts";
import { isFolder } from "../lib/file-kinds.ts";

/** Less than a call waits for an unavailable tool host. */
const placeWaitMs = 20_000;

/** One wall for each conversation that works on this machine. */
export class StartedWalls implements Omit<Walls, "summary" | "kind"> {
  readonly #deps: StartedWallsDeps;
  /** Those that were used in the last minutes. */
  readonly #walls = new Map<string, ConversationWall>();
  /** By conversation, for each that had a wall of this process. */
  readonly #leftBehind = new Map<string, LeftBehindFiles>();
  #opened = 0;
  readonly #gitPlaces = new GitPlaces();
  /** An image may have other programs than this machine. */
  readonly #knownTools = { bubblewrap: new KnownTools(), docker: new KnownTools() };
  readonly #trust = new SharedTrust();
  readonly #groups: Promise<ControlGroups>;
  readonly #startedAhead = new Set<object>();
  readonly #places: WallPlaces;
  readonly #userPlaces: UserPlaces;
  readonly #homes: PrivateHomes;
  readonly #dataDir: string;
  readonly #runDir: string;

  private constructor(deps: StartedWallsDeps, dataDir: string, runDir: string) {
    this.#deps = deps;
    this.#dataDir = dataDir;
    this.#runDir = runDir;
    this.#groups = deps.openControlGroups();
    const homesDir = join(dataDir, "walls", "homes");
    const uses = new HomeUses({ homesDir, runsDir: dirname(runDir) });
    this.#homes = new PrivateHomes({ homesDir, uses, limits: deps.homes, logger: deps.logger });
    this.#homes.start();
    const waitMs = deps.placeWaitMs ?? placeWaitMs;
    this.#places = new WallPlaces({ max: deps.maxRunning, waitMs });
    this.#userPlaces = new UserPlaces({ take: deps.takeHold, waitMs });
  }

  /** Removes what processes left that ended without doing so. */
  static async open(deps: StartedWallsDeps): Promise<StartedWalls> {
    const dataDir = await resolved(deps.dataDir);
    const folder = join(dataDir, "walls", "run");
    await mkdir(folder, { recursive: true, mode: 0o711 });
    for (const name of await readdir(folder)) {
      if (!isProcessAlive(name)) await rm(join(folder, name), { recursive: true, force: true });
    }
    const runDir = join(folder, processName());
    await mkdir(runDir, { recursive: true, mode: 0o711 });
    return new StartedWalls(deps, dataDir, runDir);
  }

  async open(order: WallOrder): Promise<WalledHost> {
    const folder = await resolved(order.folder);
    const reason = await this.#whyRefused(folder);
    if (reason !== null) throw invalidField(["body", "workspace", "working_dir"], reason);
    await this.#checkKind(order.kind);
    const extraFolders = await this.#resolveExtra(order);
    const known = this.#walls.get(order.rootId);
    if (known?.isFor(order, folder) === true) {
      known.grant(order.granted);
      return known;
    }
    const { rootId } = order;
    const wall = new ConversationWall({
      ...this.#deps,
      order,
      folder,
      extraFolders,
      dataDir: this.#dataDir,
      // A folder of its own: the settings of the conversation may have changed, and its wall of before may still be ending.
      root: join(this.#runDir, `${digestOf(rootId)}-${(this.#opened += 1)}`),
      home: join(this.#dataDir, "walls", "homes", digestOf(`${order.ownerId}\0${folder}`)),
      state: this.#stateOf(rootId),
      leftBehind: this.#leftBehindOf(rootId, { folder, unlocked: order.unlocked }),
      gitPlaces: this.#gitPlaces,
      knownTools: this.#knownTools[order.kind],
      trust: this.#trust,
      groups: this.#groups,
      places: this.#places,
      userPlaces: this.#userPlaces,
      startedAhead: this.#startedAhead,
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

  /** Throws a {@link Fault} with what to do where no wall of this kind can stand here. */
  async #checkKind(kind: WallKind): Promise<void> {
    const field = ["body", "wall", "kind"];
    if (kind === "docker") {
      const why = await this.#deps.containers.whyNot();
      if (why !== null) throw invalidField(field, `${why.reason} ${why.fix}`);
    } else if (this.#deps.kind === "docker")
      throw invalidField(
        field,
        "The walls of this server are containers (CONVOKE_WALL=docker). Leave it out.",
      );
  }

  async #whyRefused(folder: string): Promise<string | null> {
    return whyRefused(folder, await this.#hidden());
  }

  async #hidden(): Promise<FolderPlaces> {
    const home = this.#deps.environment["HOME"];
    return { dataDir: this.#dataDir, home: home === undefined ? null : await resolved(home) };
  }

  async isAsRoot(folder: string): Promise<boolean> {
    if (this.#deps.self.uid !== 0) return false;
    return await stat(folder).then(
      ({ uid }) => uid === 0,
      // It is made by the server, as root.
      () => true,
    );
  }

  async limits(kind: WallKind): Promise<Pick<ControlGroups, "kind" | "detail">> {
    if (kind === "docker") return { kind: "group", detail: "by the container engine" };
    return await this.#groups;
  }

  countRunning(): number {
    return [...this.#walls.values()].filter((wall) => wall.isRunning).length;
  }

  async findLeftBehind(rootId: string): Promise<LeftBehind | null> {
    return (await this.#leftBehind.get(rootId)?.find()) ?? null;
  }

  countLeftBehind(rootId: string): number | null {
    return this.#leftBehind.get(rootId)?.count ?? null;
  }

  async remove(rootId: string): Promise<void> {
    this.#leftBehind.delete(rootId);
    const wall = this.#walls.get(rootId);
    this.#walls.delete(rootId);
    await wall?.[Symbol.asyncDispose]();
    for (const folder of [this.#stateOf(rootId), this.#recordsOf(rootId)])
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
    await rmdir(this.#folderOf(rootId)).catch((error: NodeJS.ErrnoException) => {
      // A conversation has more there.
      if (error.code !== "ENOTEMPTY" && error.code !== "ENOENT") throw error;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#walls.values()].map((wall) => wall[Symbol.asyncDispose]()));
    await this.#homes[Symbol.asyncDispose]();
    await rm(this.#runDir, { recursive: true, force: true });
  }

  #forget(rootId: string, wall: ConversationWall): void {
    if (this.#walls.get(rootId) === wall) this.#walls.delete(rootId);
  }

  /** The same folders without links. Throws a {@link Fault} that names one which cannot show. */
  async #resolveExtra({ extraFolders }: WallOrder): Promise<WallOrder["extraFolders"]> {
    return await Promise.all(
      extraFolders.map(async ({ path, isWritable }, index) => {
        const loc = ["body", "wall", "extra_folders", index, "path"];
        if (!isAbsolute(path)) throw invalidField(loc, `${path} is not an absolute path.`);
        const found = await resolved(path);
        if (!(await isFolder(found)))
          throw invalidField(loc, `${path} is not a folder that the server can read.`);
        const reason = whyNotShown(found, await this.#hidden());
        if (reason !== null) throw invalidField(loc, reason);
        return { path: found, isWritable };
      }),
    );
  }

  #leftBehindOf(rootId: string, place: LeftBehindPlace): LeftBehindFiles {
    const known = this.#leftBehind.get(rootId);
    if (known?.isFor(place) === true) return known;
    const files = new LeftBehindFiles(this.#recordsOf(rootId), place);
    this.#leftBehind.set(rootId, files);
    return files;
  }

  #stateOf(rootId: string): string {
    return join(this.#folderOf(rootId), "wall");
  }

  /** Nothing of it shows inside. */
  #recordsOf(rootId: string): string {
    return join(this.#folderOf(rootId), "wall-records");
  }

  #folderOf(rootId: string): string {
    return join(this.#dataDir, "conversations", rootId);
  }
}

/** Short, because the path of a socket may have a hundred characters only. */
function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
