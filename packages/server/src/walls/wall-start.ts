import { chown, mkdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { gitSettings } from "../egress/git-credentials.ts";
import { insideEgress } from "../egress/inside-egress.ts";
import { describeError } from "../lib/describe-error.ts";
import type { Bind } from "../sandboxes/bubblewrap-arguments.ts";
import { systemPath } from "../sandboxes/tool-host-program.ts";
import { deriveSettings } from "./derived-settings.ts";
import { findGuards } from "./find-guards.ts";
import { findJava, type Java } from "./java.ts";
import { launchBubblewrap } from "./launch-bubblewrap.ts";
import { launchContainer } from "./launch-container.ts";
import type { LaunchedWall } from "./launched-wall.ts";
import { orderContainer } from "./order-container.ts";
import { orderWall, type WallParts } from "./order-wall.ts";
import { chooseWallAccount, type WallAccount } from "./wall-account.ts";
import { findReplaced, findSwapped, identify, type FileIdentity } from "./wall-identity.ts";
import type { WallEgress } from "./wall-egress.ts";
import { groupLimits, type WallGroup } from "./wall-group.ts";
import type { ConversationWallDeps } from "./walls-deps.ts";

export type WallStartDeps = ConversationWallDeps & {
  /** Folder for the sockets of the process. */
  readonly run: string;
  /** Opens its tool host. */
  readonly key: string;
  readonly egress: WallEgress;
  readonly group: WallGroup;
};

/** What one process of a wall needs of this machine, from before its start to after its end. */
export class WallStart {
  readonly #deps: WallStartDeps;
  readonly #gitDirs: string[] = [];
  #isHomeHeld = false;
  #shown: readonly FileIdentity[] = [];

  constructor(deps: WallStartDeps) {
    this.#deps = deps;
  }

  /** Whom the tools run as. */
  async account(): Promise<WallAccount> {
    const { folder, self, environment } = this.#deps;
    return await chooseWallAccount(folder, { self, home: environment["HOME"] ?? null });
  }

  /** Makes what the inside needs, and starts it. */
  async launch(): Promise<LaunchedWall> {
    const { environment, root, order, containers, limits } = this.#deps;
    const parts = await this.#prepare();
    if (order.kind === "bubblewrap") {
      const bubblewrap = await orderWall(parts);
      const group = await this.#deps.group.open();
      return await launchBubblewrap({
        root,
        order: bubblewrap,
        group,
        path: environment["PATH"] ?? systemPath,
      });
    }
    return await launchContainer({
      order: await orderContainer(parts),
      engine: containers.engine,
      image: containers.image,
      name: containers.nameOf(basename(root)),
      labels: containers.labels,
      root,
      limits: groupLimits(limits),
      onLeft: this.#warn("the container of a wall could not be removed"),
    });
  }

  async #prepare(): Promise<WallParts> {
    const { folder, order, environment, root, home, state } = this.#deps;
    await this.#deps.privateHomes.hold(basename(home), basename(root), folder);
    this.#isHomeHeld = true;
    const account = await this.account();
    const egress = join(root, "egress");
    await this.#makeFolders(account, [root, this.#deps.run, egress, home, state]);
    const key = join(this.#deps.run, "key");
    await writeFile(key, `${this.#deps.key}\n`, { mode: 0o600 });
    await giveTo(key, account);
    const isClosed = order.network === "none";
    const personHome = environment["HOME"] ?? account.home;
    // Some wait for a program of git.
    const [guards, settings, java] = await Promise.all([
      this.#findGuards(),
      deriveSettings(personHome, folder, environment, {
        moreGit: isClosed ? "" : gitSettings(insideEgress.folder),
      }),
      // An image has its own.
      order.kind === "docker" ? noJava : findJava(personHome, environment),
    ]);
    const { extraFolders } = this.#deps;
    const own = [folder, ...extraFolders.map(({ path }) => path), ...guards.map(({ source }) => source)];
    this.#shown = await Promise.all([...new Set(own)].map(identifyOwn));
    return {
      ...this.#deps,
      account,
      guards,
      dirs: { run: this.#deps.run, state, home, egress: isClosed ? null : egress },
      settings,
      java,
      trust: isClosed ? null : await this.#deps.egress.open(settings.registries, java),
    };
  }

  /**
   * Rejects when the wall shows something else than it was made for: another agent may write around its folder, and have put a link in the
   * place of it meanwhile. To be awaited before anything runs inside. Where the inside cannot be seen, the places outside are compared.
   */
  async check(launched: LaunchedWall): Promise<void> {
    const processId = await launched.firstProcess();
    const swapped =
      processId === null ? await findReplaced(this.#shown) : await findSwapped(processId, this.#shown);
    if (swapped !== null) throw new Error(swappedMessage(swapped));
  }

  /** Gives up what the process held. Never rejects: a file that stays behind is harmless, and the next wall takes it over. */
  async release(): Promise<void> {
    const { gitPlaces, group, home, privateHomes, root } = this.#deps;
    await group.close().catch(this.#warn("the control group of a wall could not be removed"));
    if (this.#isHomeHeld) {
      this.#isHomeHeld = false;
      const released = privateHomes.release(basename(home), basename(root));
      await released.catch(this.#warn("the private home of a wall stays marked as used"));
    }
    for (const gitDir of this.#gitDirs.splice(0))
      await gitPlaces.release(gitDir).catch(this.#warn("what a wall held in .git could not be removed"));
  }

  #warn(message: string): (error: unknown) => void {
    const { folder, logger } = this.#deps;
    return (error) => logger.warn({ folder, error: describeError(error) }, message);
  }

  async #findGuards(): Promise<Bind[]> {
    const { dataDir, folder, extraFolders, order, gitPlaces } = this.#deps;
    const hold = async (gitDir: string): Promise<void> => {
      await gitPlaces.hold(gitDir);
      this.#gitDirs.push(gitDir);
    };
    const guards = await findGuards({ folder, dataDir, hold, unlocked: order.unlocked });
    for (const { path, isWritable } of extraFolders)
      if (isWritable) guards.push(...(await findGuards({ folder: path, dataDir, hold })));
    return guards;
  }

  async #makeFolders(account: WallAccount, folders: readonly string[]): Promise<void> {
    await rm(this.#deps.run, { recursive: true, force: true });
    for (const folder of folders) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      if (folder !== this.#deps.root) await giveTo(folder, account);
    }
  }
}

async function identifyOwn(path: string): Promise<FileIdentity> {
  const found = await identify(path);
  if (found === null) throw new Error(swappedMessage(path));
  return found;
}

function swappedMessage(path: string): string {
  return `${path} was replaced, or a link put in its place, while the wall started. See what changes it, and try again.`;
}

const noJava: Java = { stores: [], networkSettings: [], settingsFolders: [] };

async function giveTo(path: string, { become }: WallAccount): Promise<void> {
  if (become !== null) await chown(path, become.uid, become.gid);
}
