import { Agent, request } from "node:http";

export type CreatingServer = { readonly url: string; readonly workDir: string };

/** Creates conversations over persistent connections, like a program that starts many. */
export class CreatingClient implements Disposable {
  readonly #server: CreatingServer;
  readonly #modelUrl: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 32 });

  constructor(server: CreatingServer, modelUrl: string) {
    this.#server = server;
    this.#modelUrl = modelUrl;
  }

  async fill(count: number): Promise<void> {
    for (let made = 0; made < count; made += 50)
      await Promise.all(Array.from({ length: 50 }, () => this.create("none")));
  }

  /** Creates a conversation and returns its id; with a message that is only stored, or that starts a run. */
  async create(message: "none" | "stored" | "run"): Promise<string> {
    const llm = { model: "openai/scripted", base_url: `${this.#modelUrl}/v1`, api_key: "bench-key" };
    const content = [{ type: "text", text: "Go." }];
    const { id } = (await this.#post("/api/conversations", {
      agent: { kind: "Agent", llm, tools: [{ name: "terminal" }, { name: "file_editor" }] },
      workspace: { kind: "LocalWorkspace", working_dir: this.#server.workDir },
      ...(message === "none" ? {} : { initial_message: { role: "user", content, run: message === "run" } }),
    })) as { id: string };
    return id;
  }

  /** Creates one with a message and follows it until its run has ended. */
  async turn(): Promise<void> {
    const id = await this.create("run");
    const socket = new WebSocket(`${this.#server.url.replace("http", "ws")}/sockets/events/${id}`);
    await new Promise<void>((resolve) => {
      socket.addEventListener("message", ({ data }: MessageEvent<string>) => {
        if (/"(?:execution_status|value)":"finished"/.test(data)) resolve();
      });
    });
    socket.close();
  }

  async turnsAtOnce(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.turn()));
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  #post(path: string, body: unknown): Promise<unknown> {
    const headers = { "content-type": "application/json" };
    return new Promise((resolve, reject) => {
      const asked = request(
        new URL(path, this.#server.url),
        { method: "POST", agent: this.#agent, headers },
        (reply) => {
          let text = "";
          reply.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
          reply.on("end", () => {
            if (reply.statusCode === 201) resolve(JSON.parse(text));
            else reject(new Error(text));
          });
        },
      );
      asked.on("error", reject);
      asked.end(JSON.stringify(body));
    });
  }
}
