import { randomBytes } from "node:crypto";
import { readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readIfThere } from "../lib/read-if-there.ts";
import type { Cluster, NodeAddress, NodeView } from "./cluster.ts";
import { doorFileOf, doorSuffix } from "./node-door.ts";

/** Whoever is asked through a door that is not there any more refuses the connection. */
const ttlMs = 250;

/** The processes on one data folder: each has a file there that says how it is reached, beside the lock that says it lives. */
export class FolderCluster implements Cluster {
  readonly nodeId: string;
  readonly ownSecret = randomBytes(32).toString("base64url");
  /** A process that has ended is known at once: its lock is free. */
  readonly ownerTimeoutMs = 1000;
  /** They are all on one machine. */
  readonly ownHost = null;
  readonly #dataDir: string;
  readonly #nodeAddresses = new Map<string, { readonly nodeAddress: NodeAddress; readonly atMs: number }>();

  constructor(dataDir: string, nodeId: string) {
    this.#dataDir = dataDir;
    this.nodeId = nodeId;
  }

  /** Of the machine that they are all on. */
  nowMs(): number {
    return Date.now();
  }

  isSound(): boolean {
    return true;
  }

  async untilSound(): Promise<void> {}

  async announce(url: string): Promise<void> {
    const file = doorFileOf(this.#dataDir, this.nodeId);
    const nodeAddress: NodeAddress = { url, secret: this.ownSecret };
    // Nobody reads half of it. Who may read it owns the data folder, and with it all keys.
    await writeFile(`${file}.draft`, JSON.stringify(nodeAddress), { mode: 0o600 });
    await rename(`${file}.draft`, file);
  }

  /** A door never changes; whether it is still there is looked up now and then. */
  async findAddress(nodeId: string): Promise<NodeAddress | null> {
    const known = this.#nodeAddresses.get(nodeId);
    if (known !== undefined && performance.now() - known.atMs < ttlMs) return known.nodeAddress;
    const text = await readIfThere(doorFileOf(this.#dataDir, nodeId));
    this.#nodeAddresses.delete(nodeId);
    if (text === null) return null;
    const nodeAddress = JSON.parse(text) as NodeAddress;
    this.#nodeAddresses.set(nodeId, { nodeAddress, atMs: performance.now() });
    return nodeAddress;
  }

  async nodes(): Promise<readonly NodeView[]> {
    const files = (await readdir(join(this.#dataDir, "nodes"))).filter((name) => name.endsWith(doorSuffix));
    const nodes = files.map(async (name): Promise<NodeView[]> => {
      const id = name.slice(0, -doorSuffix.length);
      const nodeAddress = await this.findAddress(id);
      return nodeAddress === null ? [] : [{ id, address: nodeAddress.url, release: null, startedAtMs: null }];
    });
    return (await Promise.all(nodes)).flat();
  }

  /** A lock is never taken from a process that lives. */
  onFenced(): () => void {
    return () => {};
  }

  /** Whoever looks finds its lock free. */
  onGone(): () => void {
    return () => {};
  }
}
