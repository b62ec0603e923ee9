import type { TestServer } from "../start-server.ts";

/** What is there at the moment, for requests to name. */
export class LivePool {
  readonly #server: TestServer;
  readonly #root: string;
  #values: Readonly<Record<string, readonly string[]>> = {};

  constructor(server: TestServer, root: string) {
    this.#server = server;
    this.#root = root;
  }

  /** Replaces each `@name@`; `choice` picks among several. */
  fill(text: string, choice: number): string {
    return text.replaceAll(/@(\w+)@/g, (whole, name: string) => {
      const values = this.#values[name];
      if (values === undefined) return whole;
      return values.length === 0 ? "nothing" : values[choice % values.length]!;
    });
  }

  /** Looks again, and makes what has been deleted. */
  async refresh(): Promise<void> {
    const conversations = await this.#conversations();
    const [conversation = ""] = conversations;
    await this.#server.call("POST", "/api/v1/sandboxes");
    await this.#server.call("POST", "/api/profiles/one", {
      llm: { model: "openai/scripted", base_url: `${this.#server.model.url}/v1` },
    });
    const events = await this.#ids(`/api/conversations/${conversation}/events/search?limit=5`);
    const sandboxes = await this.#ids("/api/v1/sandboxes/search?limit=3");
    const commits = (await this.#server.call("GET", `/api/git/commits?path=${this.#root}/repository`)).json;
    const tasks = await this.#ids("/api/v1/app-conversations/start-tasks/search?limit=3");
    const profiles = (await this.#server.call("GET", "/api/agent-profiles")).json;
    this.#values = {
      conversation_id: conversations,
      event_id: events,
      sandbox_id: sandboxes,
      task_id: tasks,
      sha: namesIn(commits, "sha"),
      profile_id: namesIn(profiles, "id"),
      connection_id: namesIn((await this.#server.call("GET", "/api/llm/provider-connections")).json, "id"),
      path: ["a.txt", "sub", "repository", "plugin", "skills/demo", "missing", "odd näme 👋.txt"].map(
        (name) => encodeURI(`${this.#root}/${name}`),
      ),
    };
  }

  async #conversations(): Promise<string[]> {
    const found = await this.#ids("/api/conversations/search?limit=5");
    while (found.length < 3) {
      const { id } = await this.#server.createConversation({ text: "Hello." });
      found.push(id);
    }
    return found;
  }

  async #ids(path: string): Promise<string[]> {
    return namesIn((await this.#server.call("GET", path)).json, "id");
  }
}

/** The texts under one name in a list, wherever in an answer the list is. */
function namesIn(value: unknown, name: string): string[] {
  const list = Array.isArray(value)
    ? value
    : Object.values((value ?? {}) as Record<string, unknown>).find((part) => Array.isArray(part));
  return ((list ?? []) as Record<string, unknown>[]).flatMap((item) =>
    typeof item[name] === "string" ? [item[name]] : [],
  );
}
