import type { SocketOutput } from "./socket-output.ts";

const recheckMs = 50;

/** The summaries for one client: while it is slow, only the newest of each conversation waits. */
export class SummaryOutput implements Disposable {
  readonly #output: Pick<SocketOutput, "offer" | "isBehind">;
  readonly #waiting = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(output: Pick<SocketOutput, "offer" | "isBehind">) {
    this.#output = output;
  }

  give(id: string, json: string): void {
    this.#waiting.set(id, json);
    if (this.#timer === undefined) this.#flush();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#waiting.clear();
  }

  #flush(): void {
    this.#timer = undefined;
    for (const [id, json] of this.#waiting) {
      if (this.#output.isBehind) {
        this.#timer = setTimeout(() => this.#flush(), recheckMs);
        return;
      }
      this.#waiting.delete(id);
      this.#output.offer(json);
    }
  }
}
