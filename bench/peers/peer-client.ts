import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

export type PeerServer = { readonly url: string; readonly workDir: string };

const runLimitMs = 120_000;

/** Asks one server the same things in the same words as the other one, over connections that stay open. */
export class PeerClient implements Disposable {
  readonly #server: PeerServer;
  readonly #modelUrl: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 32 });

  constructor(server: PeerServer, modelUrl: string) {
    this.#server = server;
    this.#modelUrl = modelUrl;
  }

  /** Its id; with a first message that starts a run where `runs` says so. */
  async create(runs = false): Promise<string> {
    const llm = { model: "openai/scripted", base_url: `${this.#modelUrl}/v1`, api_key: "bench-key" };
    const message = { role: "user", content: [{ type: "text", text: "Go." }], run: true };
    const { id } = (await this.#ask("POST", "/api/conversations", {
      agent: { kind: "Agent", llm, tools: [] },
      workspace: { kind: "LocalWorkspace", working_dir: this.#server.workDir },
      ...(runs ? { initial_message: message } : {}),
    })) as { id: string };
    return id;
  }

  /** Stores a message that starts no run. */
  async send(id: string, text: string): Promise<void> {
    const content = [{ type: "text", text }];
    await this.#ask("POST", `/api/conversations/${id}/events`, { role: "user", content, run: false });
  }

  /** The newest 100 events, all or those with a text. */
  async page(id: string, body?: string): Promise<number> {
    const filter = body === undefined ? "" : `&body=${body}`;
    const path = `/api/conversations/${id}/events/search?limit=100&sort_order=TIMESTAMP_DESC${filter}`;
    return ((await this.#ask("GET", path)) as { items: unknown[] }).items.length;
  }

  async health(): Promise<void> {
    await this.#ask("GET", "/health");
  }

  /** Creates so many at once, each with a message, and waits for the end of the last run. */
  async firstTurns(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#firstTurn()));
  }

  async #firstTurn(): Promise<void> {
    const id = await this.create(true);
    const limit = performance.now() + runLimitMs;
    for (;;) {
      const { execution_status: status } = (await this.#ask("GET", `/api/conversations/${id}`)) as {
        execution_status: string;
      };
      if (status === "finished") return;
      if (status === "error" || performance.now() > limit) throw new Error(`A first turn is ${status}.`);
      await sleep(10);
    }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  #ask(method: string, path: string, body?: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { "content-type": "application/json" };
      const asked = request(
        new URL(path, this.#server.url),
        { method, agent: this.#agent, headers },
        (reply) => {
          let text = "";
          reply.setEncoding("utf8").on("data", (piece: string) => (text += piece));
          reply.on("end", () => {
            if ((reply.statusCode ?? 500) < 300) resolve(JSON.parse(text));
            else reject(new Error(`${method} ${path} answered ${reply.statusCode}: ${text.slice(0, 300)}`));
          });
        },
      );
      asked.on("error", reject);
      asked.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}
