import { hkdfSync } from "node:crypto";
import type { Cluster, NodeAddress, NodeView } from "./cluster.ts";
import type { PostgresNode } from "./postgres-node.ts";

/**
 * The nodes on one PostgreSQL. Each has a row with its address, and all derive each other's secrets from the master
 * key.
 */
export class PostgresCluster implements Cluster {
  /** Longer than it takes to declare a node without heartbeats dead. */
  readonly ownerTimeoutMs = 12_000;
  readonly #node: PostgresNode;
  readonly #key: Buffer;

  /** `key` is shared by all nodes and known to nobody else. */
  constructor(node: PostgresNode, key: Buffer) {
    this.#node = node;
    this.#key = key;
  }

  get nodeId(): string {
    return this.#node.heartbeat.nodeId;
  }

  get ownSecret(): string {
    return this.#secretOf(this.nodeId);
  }

  get ownHost(): string | null {
    return this.#node.heartbeat.localAddress;
  }

  nowMs: Cluster["nowMs"] = () => this.#node.heartbeat.nowMs;
  isSound: Cluster["isSound"] = () => this.#node.heartbeat.isSound;
  untilSound: Cluster["untilSound"] = (signal) => this.#node.heartbeat.untilSound(signal);
  announce: Cluster["announce"] = (url) => this.#node.heartbeat.announce(url);

  async findAddress(nodeId: string): Promise<NodeAddress | null> {
    if (!(await this.#node.heartbeat.isHere(nodeId))) return null;
    const url =
      this.#node.heartbeat.addressOf(nodeId) ??
      (await this.nodes()).find(({ id }) => id === nodeId)?.address ??
      null;
    return url === null ? null : { url, secret: this.#secretOf(nodeId) };
  }

  async nodes(): Promise<readonly NodeView[]> {
    const { rows } = await this.#node.pool.query<NodeView>(
      `SELECT id, address, release, floor(extract(epoch FROM started_at) * 1000)::bigint AS "startedAtMs"
       FROM convoke.nodes WHERE dead_at IS NULL ORDER BY started_at, id`,
    );
    return rows;
  }

  onFenced: Cluster["onFenced"] = (listener) => this.#node.heartbeat.onFenced(listener);
  onGone: Cluster["onGone"] = (listener) => this.#node.heartbeat.onGone(listener);

  #secretOf(nodeId: string): string {
    return Buffer.from(hkdfSync("sha256", this.#key, nodeId, "convoke nodes 1", 32)).toString("base64url");
  }
}
