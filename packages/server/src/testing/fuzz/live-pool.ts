import type { TestServer } from "../start-server.ts";

/** Existing things that requests can name. */
export class LivePool {
  readonly #server: TestServer;
  readonly #root: string;
  #values: Readonly<Record<string, readonly string[]>> = {};

  constructor(server: TestServer, root: string) {
    this.#server = server;
    this.#root = root;
  }

  /** Replaces each `@name@`; `choice` selects among several. */
  fill(text: string, choice: number): string {
    return text.replaceAll(/@(\w+)@/g, (whole, name: string) => {
      const values = this.#values[name];
      if (values === undefined) return whole;
      return values.length === 0 ? "nothing" : values[choice % values.length]!;
    });
  }

  /** Refreshes the list, and recreates what was deleted. */
  async refresh(): Promise<void> {
    await this.#makeAgain();
    const conversations = await this.#conversations();
    this.#values = {
      conversation_id: conversations,
      // One of each, in the same order, so that the same choice gives related things.
      event_id: await Promise.all(conversations.map((id) => this.#firstEvent(id))),
      app_conversation_id: await this.#ids("/api/v1/app-conversations/search?limit=3"),
      sandbox_id: await this.#ids("/api/v1/sandboxes/search?limit=3"),
      task_id: await this.#ids("/api/v1/app-conversations/start-tasks/search?limit=3"),
      sha: namesIn(await this.#get(`/api/git/commits?path=${this.#root}/repository`), "sha"),
      profile_id: namesIn(await this.#get("/api/agent-profiles"), "id"),
      connection_id: namesIn(await this.#get("/api/llm/provider-connections"), "id"),
      path: ["a.txt", "sub", "repository", "plugin", "skills/demo", "missing", "odd näme 👋.txt"].map(
        (name) => encodeURI(`${this.#root}/${name}`),
      ),
    };
  }

  /** Creating an existing thing is refused, which is fine. */
  async #makeAgain(): Promise<void> {
    const { model } = this.#server;
    const llm = { model: "openai/scripted", base_url: `${model.url}/v1` };
    await this.#server.call("POST", "/api/v1/settings", { llm_model: llm.model, llm_base_url: llm.base_url });
    await this.#server.call("POST", "/api/v1/sandboxes");
    await this.#server.call("POST", "/api/v1/app-conversations", { title: "Started" });
    await this.#server.call("POST", "/api/profiles/one", { llm });
    await this.#server.call("POST", "/api/agent-profiles/one", { agent_kind: "openhands" });
    await this.#server.call("PUT", "/api/settings/secrets", { name: "one", value: "a value" });
    await this.#server.call("POST", "/api/skills/install", { source: `${this.#root}/skills/demo` });
    await this.#server.call("POST", "/api/plugins/install", { source: `${this.#root}/plugin` });
  }

  async #conversations(): Promise<string[]> {
    const found = await this.#ids("/api/conversations/search?limit=3");
    while (found.length < 3) {
      const { id } = await this.#server.createConversation({ text: "Hello." });
      found.push(id);
    }
    return found;
  }

  async #firstEvent(id: string): Promise<string> {
    return (await this.#ids(`/api/conversations/${id}/events/search?limit=1`))[0] ?? "nothing";
  }

  async #get(path: string): Promise<unknown> {
    return (await this.#server.call("GET", path)).json;
  }

  async #ids(path: string): Promise<string[]> {
    return namesIn(await this.#get(path), "id");
  }
}

/** The texts with one name in any list of a reply. */
function namesIn(value: unknown, name: string): string[] {
  const list = Array.isArray(value)
    ? value
    : Object.values((value ?? {}) as Record<string, unknown>).find((part) => Array.isArray(part));
  return ((list ?? []) as Record<string, unknown>[]).flatMap((item) =>
    typeof item[name] === "string" ? [item[name]] : [],
  );
}
