import { setTimeout as sleep } from "node:timers/promises";
import { Connections } from "./connections.ts";

export type PeerServer = { readonly url: string; readonly workDir: string };

const runLimitMs = 120_000;

/** Asks one server the same things in the same words as the other one. What is measured tells how many milliseconds it took. */
export class PeerClient implements Disposable {
  readonly #workDir: string;
  readonly #modelUrl: string;
  readonly #connections: Connections;

  constructor({ url, workDir }: PeerServer, modelUrl: string) {
    this.#workDir = workDir;
    this.#modelUrl = modelUrl;
    this.#connections = new Connections(url);
  }

  /** With a first message that starts a run where `runs` says so. */
  async create(runs = false): Promise<{ readonly id: string; readonly ms: number }> {
    const llm = { model: "openai/scripted", base_url: `${this.#modelUrl}/v1`, api_key: "bench-key" };
    const message = { role: "user", content: [{ type: "text", text: "Go." }], run: true };
    const { text, ms } = await this.#connections.ask("POST", "/api/conversations", {
      agent: { kind: "Agent", llm, tools: [] },
      workspace: { kind: "LocalWorkspace", working_dir: this.#workDir },
      ...(runs ? { initial_message: message } : {}),
    });
    const { id } = JSON.parse(text()) as { id: string };
    return { id, ms };
  }

  /** Stores a message that starts no run. */
  async send(id: string, text: string): Promise<number> {
    const content = [{ type: "text", text }];
    const message = { role: "user", content, run: false };
    return (await this.#connections.ask("POST", `/api/conversations/${id}/events`, message)).ms;
  }

  /** The newest 100 events, all or those with a text. */
  async page(id: string, body?: string): Promise<number> {
    const filter = body === undefined ? "" : `&body=${body}`;
    const path = `/api/conversations/${id}/events/search?limit=100&sort_order=TIMESTAMP_DESC${filter}`;
    const { text, ms } = await this.#connections.ask("GET", path);
    const { length } = (JSON.parse(text()) as { items: unknown[] }).items;
    const expected = body === undefined ? 100 : 1;
    if (length !== expected)
      throw new Error(`${path} answered ${length} events in the place of ${expected}.`);
    return ms;
  }

  async health(): Promise<number> {
    return (await this.#connections.ask("GET", "/health")).ms;
  }

  /** Creates so many at once, each with a message, and waits for the end of the last run. */
  async firstTurns(count: number): Promise<number> {
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: count }, () => this.#firstTurn()));
    return performance.now() - startedAt;
  }

  async #firstTurn(): Promise<void> {
    const { id } = await this.create(true);
    const limit = performance.now() + runLimitMs;
    for (;;) {
      const { text } = await this.#connections.ask("GET", `/api/conversations/${id}`);
      const { execution_status: status } = JSON.parse(text()) as { execution_status: string };
      if (status === "finished") return;
      if (status === "error" || performance.now() > limit) throw new Error(`A first turn is ${status}.`);
      await sleep(10);
    }
  }

  [Symbol.dispose](): void {
    this.#connections[Symbol.dispose]();
  }
}
