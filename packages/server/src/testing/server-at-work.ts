import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ConvokeProcess, type ConvokeOptions } from "./convoke-process.ts";
import { runConvoke, type CommandOutcome } from "./run-convoke.ts";
import { startScriptedModel, type ScriptedModelServer } from "./scripted-model/scripted-model-server.ts";
import { openV1 } from "./v1-client.ts";

/** When each command started and what it left, so that a repeated start is visible. */
const command = "date +%s%3N; echo more >> notes.txt; sleep 0.1";
const script = {
  turns: [
    { tool_calls: [{ name: "terminal", arguments: { command } }] },
    { tool_calls: [{ name: "terminal", arguments: { command } }] },
    { text: "Done." },
  ],
  loop: true,
};
const prefix = "/api/v1/app-conversations";

/**
 * `convoke serve` as in the README, with active conversations: two users whose agents work on the machine, and one whose agent works in a
 * sandbox. Operators' commands are tested on it.
 */
export class ServerAtWork implements AsyncDisposable {
  readonly server: ConvokeProcess;
  /** Ids of the conversations so far. */
  readonly conversations: string[] = [];
  /** By conversation: ids of the messages that were acknowledged so far. */
  readonly acknowledged = new Map<string, string[]>();
  /** Id of the sandbox in use. */
  sandboxId = "";
  readonly #model: ScriptedModelServer;
  readonly #stopping = new AbortController();
  #work: Promise<unknown> = Promise.resolve();

  private constructor(server: ConvokeProcess, model: ScriptedModelServer) {
    this.server = server;
    this.#model = model;
  }

  /** Resolves once each conversation has done something. */
  static async start(options: ConvokeOptions = {}): Promise<ServerAtWork> {
    await using scope = new AsyncDisposableStack();
    const model = scope.use(await startScriptedModel({ script, keepsRequests: false }));
    const server = scope.use(await ConvokeProcess.start(options));
    const atWork = new ServerAtWork(server, model);
    await server.call("PUT", "/api/settings/secrets", { name: "TOKEN", value: "canary" });
    const sandboxed = await atWork.#startInSandbox();
    const ids = [randomUUID(), randomUUID()];
    for (const id of ids) await atWork.#startHere(id);
    await Promise.all(ids.map((id) => atWork.#untilSettled(id)));
    atWork.#work = Promise.all([
      ...ids.map((id) => atWork.#repeat(async () => await atWork.#talk(id))),
      atWork.#repeat(async () => await atWork.#talkInSandbox(sandboxed)),
      atWork.#repeat(async () => await atWork.#startHere(randomUUID()), newEveryMs),
    ]);
    atWork.#work.catch(() => {}); // `settle` reports it.
    scope.move();
    return atWork;
  }

  get dataDir(): string {
    return this.server.dataDir;
  }

  /** Runs a `convoke` command in the server's environment. */
  async convoke(...words: string[]): Promise<CommandOutcome> {
    return await runConvoke(words, { HOME: this.server.folder });
  }

  /** Texts of the events of a conversation, in log order. */
  async eventsOf(id: string, server: ConvokeProcess = this.server): Promise<StoredEvent[]> {
    const events: StoredEvent[] = [];
    for (let pageId: string | null | undefined; pageId !== null;) {
      const query = pageId === undefined ? "" : `&page_id=${encodeURIComponent(pageId)}`;
      const { status, text, json } = await server.call(
        "GET",
        `/api/conversations/${id}/events/search?limit=100${query}`,
      );
      if (status !== 200) throw new Error(`The events of ${id} are refused with ${status}: ${text}`);
      const page = json as { items: StoredEvent[]; next_page_id: string | null };
      events.push(...page.items);
      pageId = page.next_page_id;
    }
    return events;
  }

  /** Stops sending; rejects with the failures until then. */
  async settle(): Promise<void> {
    this.#stopping.abort();
    await this.#work;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#work.catch(() => {}); // The test did not call `settle`, so it ignores failures.
    await this.server[Symbol.asyncDispose]();
    await this.#model[Symbol.asyncDispose]();
  }

  async #repeat(act: () => Promise<void>, everyMs = pauseMs): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await act();
      await sleep(everyMs);
    }
  }

  async #startHere(id: string): Promise<void> {
    const workspace = join(this.server.folder, "work", id);
    await mkdir(workspace, { recursive: true });
    await this.#ask("POST", "/api/conversations", {
      conversation_id: id,
      agent: {
        kind: "Agent",
        llm: { model: "openai/scripted", base_url: `${this.#model.url}/v1`, api_key: "llm-key" },
        tools: [{ name: "terminal" }],
      },
      workspace: { kind: "LocalWorkspace", working_dir: workspace },
      initial_message: { content: [{ type: "text", text: "Begin." }], run: true },
      secrets: { NOTE: { kind: "StaticSecret", value: "canary" } },
    });
    this.conversations.push(id);
  }

  async #talk(id: string): Promise<void> {
    const clientId = randomUUID();
    await this.#ask("POST", `/api/conversations/${id}/events`, {
      role: "user",
      content: [{ type: "text", text: clientId }],
      run: true,
      client_message_id: clientId,
    });
    this.acknowledged.set(id, [...(this.acknowledged.get(id) ?? []), clientId]);
    await this.#untilSettled(id);
  }

  async #startInSandbox(): Promise<string> {
    const v1 = await openV1(this.server, this.#model);
    const task = await v1.start({ initial_message: { content: [{ type: "text", text: "Begin." }] } });
    const { app_conversation_id: id, sandbox_id: sandboxId } = await v1.ready(task.id);
    await v1.untilStatus(id!, "finished");
    this.conversations.push(id!);
    this.sandboxId = sandboxId!;
    return id!;
  }

  async #talkInSandbox(id: string): Promise<void> {
    await this.#ask("POST", `/api/v1/conversations/${id}/pending-messages`, {
      content: [{ type: "text", text: randomUUID() }],
    });
    while (!this.#stopping.signal.aborted) {
      const { json } = await this.#ask("GET", `${prefix}?ids=${id}`);
      const [found] = json as [{ execution_status: string }];
      if (found.execution_status === "finished") return;
      await sleep(pauseMs);
    }
  }

  async #untilSettled(id: string): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const { json } = await this.#ask("GET", `/api/conversations/${id}`);
      if ((json as { execution_status: string }).execution_status === "finished") return;
      await sleep(pauseMs);
    }
  }

  async #ask(method: string, path: string, body?: unknown): ReturnType<ConvokeProcess["call"]> {
    const reply = await this.server.call(method, path, body);
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
    return reply;
  }
}

export type StoredEvent = {
  readonly id: string;
  readonly kind: string;
  readonly [field: string]: unknown;
};

const pauseMs = 100;
const newEveryMs = 5_000;
