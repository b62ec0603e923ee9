/** One server that is asked, each in its own words. What is measured tells how many milliseconds it took. */
export type Peer = {
  /** With the version, as a table names it. */
  readonly name: string;
  /** A conversation in which nothing runs yet. */
  create(): Promise<{ readonly id: string; readonly ms: number }>;
  /** Stores a message that starts no run. */
  send(id: string, text: string): Promise<number>;
  /** So many messages, half of them answers where the server stores an answer with each. */
  fill(id: string, count: number, text: (at: number) => string): Promise<void>;
  /** The newest 100 of what a conversation holds. */
  page(id: string): Promise<number>;
  /** The newest 20 conversations. */
  list(): Promise<number>;
  /** A conversation that is created, with a message, to the end of its run. */
  turn(): Promise<number>;
  /** The same so many times at once, to the end of the last. */
  turns(count: number): Promise<number>;
  residentMegabytes(): number;
};

/** What only servers of the same protocol can be asked. */
export type AgentServerPeer = Peer & {
  health(): Promise<number>;
  /** The events with a text that one has. */
  search(id: string, text: string): Promise<number>;
};
