/** A server to measure, with its own requests. Measuring methods return milliseconds. */
export type Peer = {
  /** Name with version for tables. */
  readonly name: string;
  /** Creates a conversation without a run. */
  create(): Promise<{ readonly id: string; readonly ms: number }>;
  /** Stores a message that starts no run. */
  send(id: string, text: string): Promise<number>;
  /** Stores messages, half of them answers if the server stores an answer with each. */
  fill(id: string, count: number, text: (at: number) => string): Promise<void>;
  /** Reads the newest 100 entries of a conversation. */
  page(id: string): Promise<number>;
  /** The newest 20 conversations. */
  list(): Promise<number>;
  /** Creates a conversation with a message, and waits for the end of its run. */
  turn(): Promise<number>;
  /** The same concurrently, until the last one ends. */
  turns(count: number): Promise<number>;
  residentMegabytes(): number;
};

/** Operations of servers of the same protocol. */
export type AgentServerPeer = Peer & {
  health(): Promise<number>;
  /** The events with a text that only one has. */
  search(id: string, text: string): Promise<number>;
};
