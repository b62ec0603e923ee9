import { setTimeout as sleep } from "node:timers/promises";
import { Connections } from "./connections.ts";
import type { AgentServerPeer } from "./peer.ts";

export type AgentServer = {
  readonly url: string;
  readonly workDir: string;
  residentMegabytes(): number;
};

const runLimitMs = 120_000;

/** Sends Convoke and the reference the same requests. */
export class AgentServerClient implements AgentServerPeer, Disposable {
  readonly name: string;
  readonly #server: AgentServer;
  readonly #modelUrl: string;
  readonly #connections: Connections;

  constructor(name: string, server: AgentServer, modelUrl: string) {
    this.name = name;
    this.#server = server;
    this.#modelUrl = modelUrl;
    this.#connections = new Connections(server.url);
  }

  async create(): Promise<{ readonly id: string; readonly ms: number }> {
    return await this.#create(false);
  }

  async send(id: string, text: string): Promise<number> {
    const content = [{ type: "text", text }];
    const message = { role: "user", content, run: false };
    return (await this.#connections.ask("POST", `/api/conversations/${id}/events`, message)).ms;
  }

  async fill(id: string, count: number, text: (at: number) => string): Promise<void> {
    for (let at = 0; at < count; at += 1) await this.send(id, text(at));
  }

  async page(id: string): Promise<number> {
    return await this.#events(id, "", 100);
  }

  async search(id: string, text: string): Promise<number> {
    return await this.#events(id, `&body=${text}`, 1);
  }

  async health(): Promise<number> {
    return (await this.#connections.ask("GET", "/health")).ms;
  }

  async list(): Promise<number> {
    const { text, ms } = await this.#connections.ask("GET", "/api/conversations/search?limit=20");
    const { length } = (JSON.parse(text()) as { items: unknown[] }).items;
    if (length !== 20) throw new Error(`A list of 20 conversations held ${length}.`);
    return ms;
  }

  async turn(): Promise<number> {
    const startedAt = performance.now();
    await this.#turn(1);
    return performance.now() - startedAt;
  }

  async turns(count: number): Promise<number> {
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: count }, () => this.#turn(10)));
    return performance.now() - startedAt;
  }

  residentMegabytes(): number {
    return this.#server.residentMegabytes();
  }

  [Symbol.dispose](): void {
    this.#connections[Symbol.dispose]();
  }

  async #create(runs: boolean): Promise<{ readonly id: string; readonly ms: number }> {
    const llm = { model: "openai/scripted", base_url: `${this.#modelUrl}/v1`, api_key: "bench-key" };
    const message = { role: "user", content: [{ type: "text", text: "Go." }], run: true };
    const { text, ms } = await this.#connections.ask("POST", "/api/conversations", {
      agent: { kind: "Agent", llm, tools: [] },
      workspace: { kind: "LocalWorkspace", working_dir: this.#server.workDir },
      ...(runs ? { initial_message: message } : {}),
    });
    const { id } = JSON.parse(text()) as { id: string };
    return { id, ms };
  }

  /** The newest 100 events that match a filter. */
  async #events(id: string, filter: string, expected: number): Promise<number> {
    const path = `/api/conversations/${id}/events/search?limit=100&sort_order=TIMESTAMP_DESC${filter}`;
    const { text, ms } = await this.#connections.ask("GET", path);
    const { length } = (JSON.parse(text()) as { items: unknown[] }).items;
    if (length !== expected)
      throw new Error(`${path} answered ${length} events in the place of ${expected}.`);
    return ms;
  }

  async #turn(pauseMs: number): Promise<void> {
    const { id } = await this.#create(true);
    const limit = performance.now() + runLimitMs;
    for (;;) {
      const { text } = await this.#connections.ask("GET", `/api/conversations/${id}`);
      const { execution_status: status } = JSON.parse(text()) as { execution_status: string };
      if (status === "finished") return;
      if (status === "error" || performance.now() > limit) throw new Error(`A turn is ${status}.`);
      await sleep(pauseMs);
    }
  }
}
