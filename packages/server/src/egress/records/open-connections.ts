/** A connection or a request. */
export type Endable = {
  readonly destroyed: boolean;
  destroy(error?: Error): unknown;
  once(event: "close", listener: () => void): unknown;
};

/** What of a wall is open, each with the question whether the policies still allow it. */
export class OpenConnections {
  readonly #open = new Map<Endable, () => void>();

  /** Until it closes, `check` is asked whenever the policies change; it throws `Refused` when the connection has to end. */
  add(connection: Endable, check: () => void): void {
    if (connection.destroyed) return;
    this.#open.set(connection, check);
    connection.once("close", () => this.#open.delete(connection));
  }

  /** Ends what is not allowed any more: requests before the connections that they use, so that these can say why. */
  recheck(): void {
    for (const [connection, check] of [...this.#open].toReversed()) {
      try {
        check();
      } catch (error) {
        connection.destroy(error as Error);
      }
    }
  }

  endAll(): void {
    for (const connection of this.#open.keys()) connection.destroy();
  }
}
