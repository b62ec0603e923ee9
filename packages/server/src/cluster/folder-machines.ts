import { randomUUID } from "node:crypto";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readIfThere } from "../lib/read-if-there.ts";
import type { Machines } from "./machines.ts";

/**
 * The one machine of a data folder. The process that has its sandboxes open serves it, and writes its node id to a
 * file. After its end, the file names a node that cannot be reached.
 */
export class FolderMachines implements Machines {
  readonly own = "folder";
  readonly #file: string;
  readonly #nodeId: string;

  constructor(dataDir: string, nodeId: string) {
    this.#file = join(dataDir, "nodes", "sandboxes");
    this.#nodeId = nodeId;
  }

  async serve(): Promise<AsyncDisposable> {
    const draft = `${this.#file}.${randomUUID()}`;
    await writeFile(draft, this.#nodeId, { mode: 0o600 });
    await rename(draft, this.#file);
    return { [Symbol.asyncDispose]: async () => {} };
  }

  async served(): Promise<ReadonlyMap<string, string>> {
    const nodeId = await readIfThere(this.#file);
    return new Map(nodeId ? [[this.own, nodeId]] : []);
  }
}
