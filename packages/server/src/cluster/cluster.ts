/** How the other nodes of a store reach one node. */
export type NodeAddress = {
  /** `http://host:port`, without a slash at its end. */
  readonly url: string;
  /** Signs the passes of requests to this node. */
  readonly secret: string;
};

/** One server process on the store. */
export type NodeView = {
  readonly id: string;
  /** Null until the node listens. */
  readonly address: string | null;
  /** Null when unknown. */
  readonly release: string | null;
  /** Epoch milliseconds; null when unknown. */
  readonly startedAtMs: number | null;
};

/** The nodes that share one store, as seen from this one. */
export interface Cluster {
  /** The id of this node. It changes when the node is fenced, so read it at each use. */
  readonly nodeId: string;
  /** Signs the passes of requests to this node. Changes with {@link nodeId}, so read it at each use. */
  readonly ownSecret: string;
  /** How long a request waits for an owner that does not answer: long enough for a dead node to be declared dead. */
  readonly ownerTimeoutMs: number;
  /** Whole epoch milliseconds. All nodes agree within seconds, whatever the clocks of their machines say. */
  nowMs(): number;
  /** False when the other nodes may declare this one dead. */
  isSound(): boolean;
  /**
   * Resolves when the other nodes are known to count this one as alive (at once while {@link isSound}), or when
   * `signal` aborts. After fencing, it resolves only when the listeners of {@link onFenced} have dropped what was lost.
   * Never rejects.
   */
  untilSound(signal: AbortSignal): Promise<void>;
  /** The host by which other nodes reach a node that listens on all addresses of its machine; null when unknown. */
  readonly ownHost: string | null;
  /** Publishes the address of this node for as long as it lives. */
  announce(url: string): Promise<void>;
  /** Null when no living node has that id, or when it has not announced an address. */
  findAddress(nodeId: string): Promise<NodeAddress | null>;
  /** All living nodes, including this one. */
  nodes(): Promise<readonly NodeView[]>;
  /**
   * Called after this node was declared dead and has taken a new id: it no longer owns anything. Returns the
   * unsubscribe function.
   */
  onFenced(listener: () => void): () => void;
  /** Called when another node has died, on stores that detect it by themselves. Returns the unsubscribe function. */
  onGone(listener: () => void): () => void;
}
