export type DealerDeps<Connection> = {
  /** Gives a connection to a process, and keeps it until that process has taken it. */
  readonly give: (number: number, connection: Connection) => void;
  /** Lets go of one that a process has taken. */
  readonly letGo: (connection: Connection) => void;
  /** Breaks off one that nobody will take. */
  readonly breakOff: (connection: Connection) => void;
  /** Maximum number of queued connections while no process is free. */
  readonly maxWaiting?: number;
};

/**
 * Gives connections to processes by turns. Each gets the next one when it has taken the last, so one that stands still gets no second one;
 * and what it had not taken when it ended goes to another, because nobody has read anything of it.
 */
export class ConnectionDealer<Connection> {
  readonly #deps: DealerDeps<Connection>;
  readonly #maxWaiting: number;
  /** Who is next comes first. */
  readonly #free: number[] = [];
  readonly #given = new Map<number, Connection>();
  readonly #waiting: Connection[] = [];
  #isClosed = false;

  constructor(deps: DealerDeps<Connection>) {
    this.#deps = deps;
    this.#maxWaiting = deps.maxWaiting ?? 1_000;
  }

  deal(connection: Connection): void {
    if (this.#isClosed || this.#waiting.length >= this.#maxWaiting) this.#deps.breakOff(connection);
    else this.#waiting.push(connection);
    this.#giveOut();
  }

  /** A process takes connections from now on. */
  join(number: number): void {
    if (!this.#free.includes(number) && !this.#given.has(number)) this.#free.push(number);
    this.#giveOut();
  }

  taken(number: number): void {
    const connection = this.#given.get(number);
    if (connection === undefined) return;
    this.#given.delete(number);
    this.#deps.letGo(connection);
    this.join(number);
  }

  /** A process has ended, or takes no more. */
  leave(number: number): void {
    const index = this.#free.indexOf(number);
    if (index !== -1) this.#free.splice(index, 1);
    const connection = this.#given.get(number);
    this.#given.delete(number);
    if (connection === undefined) return;
    if (this.#isClosed) this.#deps.breakOff(connection);
    else this.#waiting.unshift(connection);
    this.#giveOut();
  }

  /** Breaks off what waits. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#waiting.splice(0)) this.#deps.breakOff(connection);
  }

  #giveOut(): void {
    while (this.#waiting.length > 0 && this.#free.length > 0) {
      const [number] = this.#free.splice(0, 1) as [number];
      const [connection] = this.#waiting.splice(0, 1) as [Connection];
      this.#given.set(number, connection);
      this.#deps.give(number, connection);
    }
  }
}
