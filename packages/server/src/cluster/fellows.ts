import type { Socket } from "node:net";

/** What one process tells the others: `topic` says who listens to it, `body` is JSON. */
export type FellowNews = { readonly topic: string; readonly body: unknown };

/**
 * The processes that one command has started behind one port, as one of them sees them. They come and go: what is told may reach nobody,
 * and whoever asks must be content with fewer answers than there are processes.
 */
export interface Fellows {
  /** Which of them this process is, from 1 on. */
  readonly number: number;
  readonly count: number;
  /** `http://host:port` of the port that they share. */
  readonly url: string;
  /** From now on connections to that port come here, those that this process is given. Each is new: nothing of it was read. */
  take(onConnection: (socket: Socket) => void): void;
  /** Reaches the others soon, in order; never this process. */
  tell(news: FellowNews): void;
  /** Returns the unsubscribe function. */
  hear(topic: string, onNews: (body: unknown) => void): () => void;
}
