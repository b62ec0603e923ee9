import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { isBusy, lockFile } from "../database/sqlite-file.ts";
import { readIfThere } from "../lib/read-if-there.ts";

const lockSuffix = ".process";
const nameSuffix = ".node";

/**
 * Which nodes of a database run from one data folder. Each process holds a lock beside its node id, which the operating
 * system releases however it ends. So the next process need not wait until the heartbeat has timed out.
 */
export class OwnNodes implements Disposable {
  readonly #folder: string;
  readonly #process = randomUUID();
  readonly #lock: DatabaseSync;

  private constructor(folder: string) {
    this.#folder = folder;
    const path = join(folder, this.#process + lockSuffix);
    writeFileSync(path, "", { mode: 0o600 });
    this.#lock = lockFile(path, "alone");
  }

  static open(dataDir: string): OwnNodes {
    const folder = join(dataDir, "nodes");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return new OwnNodes(folder);
  }

  /** Records the node id of this process. */
  name(nodeId: string): void {
    writeFileSync(join(this.#folder, this.#process + nameSuffix), nodeId, { mode: 0o600 });
  }

  /** Nodes whose process has ended, until {@link forget} is called for them. */
  async findEnded(): Promise<readonly EndedNode[]> {
    const ended = readdirSync(this.#folder)
      .filter((name) => name.endsWith(nameSuffix))
      .map((name) => name.slice(0, -nameSuffix.length))
      .filter((process) => process !== this.#process && !this.#isRunning(process));
    const found = ended.map(async (process): Promise<EndedNode[]> => {
      const nodeId = await readIfThere(join(this.#folder, process + nameSuffix));
      return nodeId === null ? [] : [{ process, nodeId }];
    });
    return (await Promise.all(found)).flat();
  }

  forget(process: string): void {
    for (const suffix of [nameSuffix, lockSuffix])
      rmSync(join(this.#folder, process + suffix), { force: true });
  }

  [Symbol.dispose](): void {
    if (!this.#lock.isOpen) return;
    this.#lock.close();
    this.forget(this.#process);
  }

  #isRunning(process: string): boolean {
    try {
      lockFile(join(this.#folder, process + lockSuffix), "alone").close();
      return false;
    } catch (error) {
      if (isBusy(error)) return true;
      throw error;
    }
  }
}

type EndedNode = { readonly process: string; readonly nodeId: string };
