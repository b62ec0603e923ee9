import type { Socket } from "node:net";

/** A message to the other processes: subscribers choose by `topic`; `body` is JSON. */
export type GroupMessage = { readonly topic: string; readonly body: unknown };

/**
 * The processes that one command has started behind one port, as one of them sees them. They come and go: a message may
 * reach nobody, and a question may get fewer answers than there are processes.
 */
export interface ProcessGroup {
  /** The number of this process, from 1 on. */
  readonly number: number;
  readonly count: number;
  /** `http://host:port` of the shared port. */
  readonly url: string;
  /** Starts to take this process's share of the connections to that port. Nothing has been read from them yet. */
  take(onConnection: (socket: Socket) => void): void;
  /** Publishes to the other processes, in order; never to this one. */
  publish(news: GroupMessage): void;
  /** Returns the unsubscribe function. */
  subscribe(topic: string, onNews: (body: unknown) => void): () => void;
}
