import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, ConvokeClient } from "@convoke/client";
import type { AutomationRun, AutomationTrigger, ConversationInfo } from "@convoke/protocol";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import type { Random } from "../random.ts";
import { startScriptedModel } from "../scripted-model/scripted-model-server.ts";
import { ServerProcess } from "../server-process.ts";
import type { TestPostgres } from "../start-postgres.ts";
import { findSteadyPort } from "../steady-port.ts";

const key = "crash-test-key";

type Page<Item> = { readonly items: readonly Item[]; readonly next_page_id?: string | null };

/** Three servers on one PostgreSQL, or one on a data folder, that start what is due; any may be killed, and clients ask any of them. */
export class ScheduleRig implements AsyncDisposable {
  readonly nodes: ServerProcess[] = [];
  readonly #folder: string;
  readonly #databaseUrl: string | null;
  readonly #ports: readonly number[];
  readonly #random: Random;
  readonly #scope: AsyncDisposableStack;

  private constructor(
    given: Readonly<{ folder: string; databaseUrl: string | null; ports: readonly number[]; random: Random }>,
    scope: AsyncDisposableStack,
  ) {
    this.#folder = given.folder;
    this.#databaseUrl = given.databaseUrl;
    this.#ports = given.ports;
    this.#random = given.random;
    this.#scope = scope;
  }

  static async open(postgres: TestPostgres | null, random: Random): Promise<ScheduleRig> {
    await using scope = new AsyncDisposableStack();
    const { path: folder } = scope.use(await openTemporaryDirectory());
    const script = { turns: [{ text: "Done." }], loop: true };
    const model = scope.use(await startScriptedModel({ script }));
    const databaseUrl = postgres === null ? null : await postgres.createDatabase();
    const nodeCount = postgres === null ? 1 : 3;
    const ports: number[] = [];
    for (let index = 0; index < nodeCount; index += 1) ports.push(await findSteadyPort());
    const rig = new ScheduleRig({ folder, databaseUrl, ports, random }, scope.move());
    await mkdir(rig.workspace);
    rig.nodes.push(...(await Promise.all(ports.map((_, index) => rig.#start(index)))));
    await rig.#call(
      "/api/settings",
      JSON.stringify({
        llm_model: "openai/scripted",
        llm_base_url: `${model.url}/v1`,
        llm_api_key: "llm-key",
      }),
    );
    return rig;
  }

  get workspace(): string {
    return join(this.#folder, "work");
  }

  /** Any of the servers, as behind a load balancer. */
  get client(): ConvokeClient {
    return new ConvokeClient({
      baseUrl: this.nodes[this.#random.whole(this.nodes.length)]!.url,
      apiKey: key,
    });
  }

  async create(name: string, trigger: AutomationTrigger): Promise<string> {
    const conversation = { working_dir: this.workspace };
    const body = { name, trigger, prompt: "Work at {{due_time}}.", conversation };
    return (await insist(() => this.client.call("POST /api/automations", { body }))).id;
  }

  /** Kills a server at once, and starts the next one on its folder after a pause. */
  async kill(index: number, pauseMs: number): Promise<void> {
    await this.nodes[index]!.kill();
    await sleep(pauseMs);
    this.nodes[index] = await this.#start(index);
  }

  async runsOf(id: string): Promise<AutomationRun[]> {
    const params = { automation_id: id };
    return await all((query) =>
      this.client.call("GET /api/automations/{automation_id}/runs", { params, query }),
    );
  }

  async conversations(): Promise<ConversationInfo[]> {
    return await all((query) => this.client.searchConversations({ ...query, sort_order: "CREATED_AT" }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node[Symbol.asyncDispose]()));
    await this.#scope.disposeAsync();
  }

  async #start(index: number): Promise<ServerProcess> {
    return await ServerProcess.start({
      dataDir: join(this.#folder, `node-${index}`),
      databaseUrl: this.#databaseUrl,
      port: this.#ports[index]!,
      key,
    });
  }

  async #call(path: string, body: string): Promise<void> {
    const headers = { "x-session-api-key": key, "content-type": "application/json" };
    const reply = await fetch(`${this.nodes[0]!.url}${path}`, { method: "POST", headers, body });
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  }
}

async function all<Item>(
  load: (query: { limit: number; page_id?: string }) => Promise<Page<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let pageId: string | null = null; ;) {
    const query = pageId === null ? { limit: 100 } : { limit: 100, page_id: pageId };
    const page: Page<Item> = await insist(() => load(query));
    items.push(...page.items);
    pageId = page.next_page_id ?? null;
    if (pageId === null) return items;
  }
}

/** Asks again while the server that was asked is killed. */
async function insist<Result>(act: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (error instanceof ApiError && error.status !== 503) throw error;
      await sleep(100);
    }
  }
}
