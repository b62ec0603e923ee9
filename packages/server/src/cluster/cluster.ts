/** How one process of a store reaches another. */
export type NodeAddress = {
  /** `http://host:port`, without a slash at its end. */
  readonly url: string;
  /** What passes to it are signed with. */
  readonly secret: string;
};

/** A process that works on the store. */
export type NodeView = {
  readonly id: string;
  /** Null until it listens. */
  readonly address: string | null;
  /** Null where it is not known. */
  readonly release: string | null;
  /** Epoch milliseconds; null where it is not known. */
  readonly startedAtMs: number | null;
};

/** The processes that share one store, as this one sees them. */
export interface Cluster {
  /** Of this process; another one after it was declared dead, so it is read at each use. */
  readonly nodeId: string;
  /** What passes to this process are signed with; read at each use, as {@link nodeId} is. */
  readonly ownSecret: string;
  /** How long a request waits for a process that owns what it is about and does not answer: until it is known to be dead. */
  readonly ownerTimeoutMs: number;
  /** Whole epoch milliseconds, the same at all of them within seconds, whatever the clocks of their machines say. */
  nowMs(): number;
  /** False when the others may take this process for dead. */
  isSound(): boolean;
  /**
   * Resolves once the others are known to take this process for alive, at once while that is known; after those that listen to
   * {@link onFenced} have given up what was lost, where it was declared dead; and when `signal` aborts. Never rejects.
   */
  untilSound(signal: AbortSignal): Promise<void>;
  /** Where the others reach a process that listens on every address of its machine; null where that is not known. */
  readonly ownHost: string | null;
  /** Says where this process is reached, for as long as it lives. */
  announce(url: string): Promise<void>;
  /** Null when there is no living process of that id, or it has not said where it is reached. */
  findAddress(nodeId: string): Promise<NodeAddress | null>;
  /** Those that live, this one among them. */
  nodes(): Promise<readonly NodeView[]>;
  /** Called after this process was declared dead and has its new id: nothing that it owned is its own. Returns the unsubscribe function. */
  onFenced(listener: () => void): () => void;
  /** Called when another process is found to live no more, where that is noticed by itself. Returns the unsubscribe function. */
  onGone(listener: () => void): () => void;
}
