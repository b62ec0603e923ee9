import { randomBytes } from "node:crypto";
import { readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readIfThere } from "../lib/read-if-there.ts";
import type { Cluster, NodeAddress, NodeView } from "./cluster.ts";
import { addressFileOf, addressSuffix } from "./address-file.ts";

/** A stale address is harmless for that long: its connections are refused. */
const ttlMs = 250;

/** The nodes on one data folder. Each has an address file there, beside the lock that proves that it lives. */
export class FolderCluster implements Cluster {
  readonly nodeId: string;
  readonly ownSecret = randomBytes(32).toString("base64url");
  /** The end of a process is detected at once: its lock is free. */
  readonly ownerTimeoutMs = 1000;
  /** All nodes are on one machine. */
  readonly ownHost = null;
  readonly #dataDir: string;
  readonly #isAlive: (nodeId: string) => boolean;
  readonly #nodeAddresses = new Map<string, { readonly nodeAddress: NodeAddress; readonly atMs: number }>();

  /** `isAlive` asks for the lock of a node: the address file of a killed one is there until somebody does. */
  constructor(dataDir: string, nodeId: string, isAlive: (nodeId: string) => boolean) {
    this.#dataDir = dataDir;
    this.#isAlive = isAlive;
    this.nodeId = nodeId;
  }

  /** The clock of the machine that all nodes share. */
  nowMs(): number {
    return Date.now();
  }

  isSound(): boolean {
    return true;
  }

  async untilSound(): Promise<void> {}

  async announce(url: string): Promise<void> {
    const file = addressFileOf(this.#dataDir, this.nodeId);
    const nodeAddress: NodeAddress = { url, secret: this.ownSecret };
    // The rename keeps readers from a half-written file. Who can read it owns the data folder, and so all keys.
    await writeFile(`${file}.draft`, JSON.stringify(nodeAddress), { mode: 0o600 });
    await rename(`${file}.draft`, file);
  }

  /** The address of a node never changes; the cache only expires so that the end of a node is noticed. */
  async findAddress(nodeId: string): Promise<NodeAddress | null> {
    const known = this.#nodeAddresses.get(nodeId);
    if (known !== undefined && performance.now() - known.atMs < ttlMs) return known.nodeAddress;
    const text = await readIfThere(addressFileOf(this.#dataDir, nodeId));
    this.#nodeAddresses.delete(nodeId);
    if (text === null) return null;
    const nodeAddress = JSON.parse(text) as NodeAddress;
    this.#nodeAddresses.set(nodeId, { nodeAddress, atMs: performance.now() });
    return nodeAddress;
  }

  async nodes(): Promise<readonly NodeView[]> {
    const files = (await readdir(join(this.#dataDir, "nodes"))).filter((name) =>
      name.endsWith(addressSuffix),
    );
    const nodes = files.map(async (name): Promise<NodeView[]> => {
      const id = name.slice(0, -addressSuffix.length);
      if (id !== this.nodeId && !this.#isAlive(id)) return [];
      const nodeAddress = await this.findAddress(id);
      return nodeAddress === null ? [] : [{ id, address: nodeAddress.url, release: null, startedAtMs: null }];
    });
    return (await Promise.all(nodes)).flat();
  }

  /** A living process never loses its lock, so no node is ever fenced. */
  onFenced(): () => void {
    return () => {};
  }

  /** The end of a node is not announced: its lock is found free. */
  onGone(): () => void {
    return () => {};
  }
}
