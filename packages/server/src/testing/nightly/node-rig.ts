import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, ConvokeClient } from "@convoke/client";
import type { Event } from "@convoke/protocol";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import type { Random } from "../random.ts";
import { startScriptedModel } from "../scripted-model/scripted-model-server.ts";
import { ServerProcess } from "../server-process.ts";
import type { TestPostgres } from "../start-postgres.ts";

/** What one cycle has seen of one conversation, besides what is stored. */
export type History = {
  readonly id: string;
  /** By the id that the client gave: the event that it was told of. */
  readonly acknowledged: Map<string, string>;
  /** Ids of the events that a follower got, over whatever server, in the order in which they came. */
  readonly followed: string[];
};

const key = "crash-test-key";
const marks = ["one", "two", "three", "four", "five", "six"];
const mark = (name: string) => ({
  tool_calls: [{ name: "terminal", arguments: { command: `echo ${name} >> marks.log; sleep 1` } }],
});

/** Three servers on one PostgreSQL, each with a folder of its own; conversations in which commands leave marks. */
export class NodeRig implements AsyncDisposable {
  readonly folder: string;
  readonly faults: string[] = [];
  readonly #scope: AsyncDisposableStack;
  readonly #postgres: TestPostgres;
  readonly #databaseUrl: string;
  readonly #modelUrl: string;
  readonly #random: Random;
  readonly #nodes: ServerProcess[] = [];

  private constructor(
    scope: AsyncDisposableStack,
    folder: string,
    postgres: TestPostgres,
    databaseUrl: string,
    modelUrl: string,
    random: Random,
  ) {
    this.#scope = scope;
    this.folder = folder;
    this.#postgres = postgres;
    this.#databaseUrl = databaseUrl;
    this.#modelUrl = modelUrl;
    this.#random = random;
  }

  static async open(postgres: TestPostgres, random: Random): Promise<NodeRig> {
    await using scope = new AsyncDisposableStack();
    const { path } = scope.use(await openTemporaryDirectory());
    const turns = [...marks.map(mark), { tool_calls: [{ name: "finish", arguments: { message: "done" } }] }];
    const model = scope.use(await startScriptedModel({ script: { turns } }));
    const url = await postgres.createDatabase();
    const rig = new NodeRig(scope.move(), path, postgres, url, model.url, random);
    for (let index = 0; index < 3; index++) rig.#nodes.push(await rig.#start(index));
    return rig;
  }

  /** Of any server, as a balancer chooses one. */
  get client(): ConvokeClient {
    return this.clientOf(this.#random.whole(this.#nodes.length));
  }

  clientOf(index: number): ConvokeClient {
    return new ConvokeClient({ baseUrl: this.#nodes[index]!.url, apiKey: key });
  }

  async begin(id: string): Promise<History> {
    const workspace = this.workspaceOf(id);
    await mkdir(workspace);
    await this.client.startConversation({
      conversation_id: id,
      agent: {
        kind: "Agent",
        llm: { model: "openai/scripted", base_url: `${this.#modelUrl}/v1`, api_key: "llm-key" },
        tools: [{ name: "terminal" }],
      },
      workspace: { kind: "LocalWorkspace", working_dir: workspace },
      initial_message: { content: [{ type: "text", text: "Work." }], run: true },
    });
    return { id, acknowledged: new Map(), followed: [] };
  }

  /** Sends a message until somebody has acknowledged it, each time to whoever the balancer chooses. */
  async send(history: History, clientId: string): Promise<void> {
    const message = {
      content: [{ type: "text" as const, text: clientId }],
      run: true,
      client_message_id: clientId,
    };
    for (;;) {
      try {
        const eventId = await this.client.sendMessage(history.id, message);
        history.acknowledged.set(clientId, eventId ?? "");
        return;
      } catch (error) {
        this.#noteRefusal(error);
        await sleep(100);
      }
    }
  }

  /** Follows over one server after another, until it is aborted. */
  async follow(history: History, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const hop = AbortSignal.any([signal, AbortSignal.timeout(500 + this.#random.whole(1_500))]);
      try {
        const afterEventId = history.followed.at(-1) ?? null;
        for await (const item of this.client.follow(history.id, { afterEventId, signal: hop })) {
          if (item.type === "event") history.followed.push(item.event.id ?? "");
        }
      } catch (error) {
        if (!hop.aborted) this.#noteRefusal(error);
      }
    }
  }

  /** Does something to one of the servers, or to the database, and resolves when that one is there again. */
  async fault(): Promise<string> {
    return this.#postgres.isOurs && this.#random.whole(4) === 0
      ? await this.#crashDatabase()
      : await this.#disturbServer();
  }

  async #disturbServer(): Promise<string> {
    const index = this.#random.whole(this.#nodes.length);
    const node = this.#nodes[index]!;
    const kinds = ["SIGKILL", "SIGTERM", "SIGSTOP"] as const;
    const kind = kinds[this.#random.whole(kinds.length)]!;
    // Sometimes so long that the others take over, sometimes so short that the next process on the folder does.
    const awayMs = this.#random.whole(12_000);
    node.signal(kind);
    if (kind !== "SIGSTOP") await node.ended;
    await sleep(awayMs);
    if (kind === "SIGSTOP") node.signal("SIGCONT");
    else this.#nodes[index] = await this.#start(index, node.port);
    return `${kind} of server ${index}, away for ${awayMs} ms`;
  }

  /** It comes back on what it had written; servers must not take each other for dead, and lose nothing that was acknowledged. */
  async #crashDatabase(): Promise<string> {
    const awayMs = this.#random.whole(4_000);
    await this.#postgres.halt();
    await sleep(awayMs);
    await this.#postgres.goOn();
    return `PostgreSQL crashed, away for ${awayMs} ms`;
  }

  async marksOf(id: string): Promise<string[]> {
    const text = await readFile(join(this.workspaceOf(id), "marks.log"), "utf8").catch(() => "");
    return text.split("\n").filter((line) => line !== "");
  }

  async eventsOf(id: string, index: number): Promise<Event[]> {
    return await Array.fromAsync(this.clientOf(index).events(id));
  }

  workspaceOf(id: string): string {
    return join(this.folder, `work-${id}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.#nodes) await node[Symbol.asyncDispose]();
    await this.#scope.disposeAsync();
  }

  async #start(index: number, port?: number): Promise<ServerProcess> {
    const dataDir = join(this.folder, `node-${index}`);
    const databaseUrl = this.#databaseUrl;
    return await ServerProcess.start({ dataDir, databaseUrl, ...(port === undefined ? {} : { port }) });
  }

  /** Not being there is allowed, and 503 with a reason; anything else is a fault. */
  #noteRefusal(error: unknown): void {
    if (error instanceof ApiError && error.status !== 503)
      this.faults.push(`${error.status}: ${error.message}`);
  }
}
