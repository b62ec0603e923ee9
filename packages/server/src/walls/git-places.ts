import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { giveToParentsOwner } from "../workspaces/owned-files.ts";

/** Git takes it as "the folder itself". A file that is not there cannot be guarded, and another text leads git to another configuration. */
const ownPlace = "./\n";

/**
 * Holds `commondir` and `hooks` in folders of git while walls stand around them. Walls of one folder share the place; the last one removes
 * it. One that a crash left does no harm, and the next wall takes it over.
 */
export class GitPlaces {
  readonly #uses = new Map<string, number>();

  async hold(gitDir: string): Promise<void> {
    this.#uses.set(gitDir, (this.#uses.get(gitDir) ?? 0) + 1);
    await whenMissing(async () => {
      await mkdir(join(gitDir, "hooks"));
      await giveToParentsOwner(join(gitDir, "hooks"));
    });
    // Exclusively: a link that an agent left is not followed.
    await whenMissing(() => writeFile(join(gitDir, "commondir"), ownPlace, { flag: "wx" }));
  }

  async release(gitDir: string): Promise<void> {
    const uses = (this.#uses.get(gitDir) ?? 1) - 1;
    if (uses > 0) return void this.#uses.set(gitDir, uses);
    this.#uses.delete(gitDir);
    const file = join(gitDir, "commondir");
    const isOurs = (await readFile(file, "utf8").catch(() => null)) === ownPlace;
    if (isOurs) await rm(file, { force: true });
  }
}

async function whenMissing(make: () => Promise<void>): Promise<void> {
  try {
    await make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
