import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, ConvokeClient } from "@convoke/client";
import type { Event } from "@convoke/protocol";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { Client, escapeIdentifier } from "pg";
import { openDatabaseLine, type DatabaseLine } from "../database-line.ts";
import type { AppendRecord } from "../journal-with-record.ts";
import { openLine, type Line } from "../line.ts";
import type { LimitedDisk } from "../limited-disk.ts";
import type { Random } from "../random.ts";
import { startScriptedModel } from "../scripted-model/scripted-model-server.ts";
import { ServerProcess } from "../server-process.ts";
import { startPgbouncer } from "../start-pgbouncer.ts";
import type { TestPostgres } from "../start-postgres.ts";
import { findSteadyPort } from "../steady-port.ts";

/** What the clients of one cycle have seen of one conversation. */
export type History = {
  readonly id: string;
  /** Event id by client message id, for acknowledged messages. */
  readonly acknowledged: Map<string, string>;
  /** Ids of the events that a follower got, on any server, in order of arrival. */
  readonly followed: string[];
  /** The number of paid model calls; null without a limit. */
  readonly paidCalls: number | null;
  /** Set when the database has lost its latest commits: ids acknowledged before that. Later ones may be lost. */
  surviving: ReadonlySet<string> | null;
};

export type NodeRigOptions = {
  readonly postgres: TestPostgres;
  readonly random: Random;
  /** The disk of the database; null without one that can be filled. */
  readonly disk: LimitedDisk | null;
  /** Work of a conversation: number of commands, and seconds of each. */
  readonly commands: number;
  readonly commandSeconds: number;
  /** Whether servers reach the database through a pooler in transaction mode. */
  readonly isPooled?: boolean;
  /** The root of a clone of another release: each start uses one of the two. */
  readonly otherRelease?: string;
};

const key = "crash-test-key";
const dollarsPerCall = 1;
const nodeCount = 3;

/**
 * Three servers on one PostgreSQL, each with its own folder and database connection; conversations whose commands leave marks; a client
 * that asks any of the servers, like a load balancer without stickiness.
 */
export class NodeRig implements AsyncDisposable {
  readonly folder: string;
  readonly options: NodeRigOptions;
  /** Invalid replies. */
  readonly faults: string[] = [];
  readonly nodes: ServerProcess[] = [];
  /** Histories of the current cycle. */
  readonly histories: History[] = [];
  readonly lines: readonly DatabaseLine[];
  /** The proxies through which other nodes reach each server, by server index. */
  readonly nodeLines: readonly Line[];
  readonly #ports: readonly number[];
  readonly #scope: AsyncDisposableStack;
  readonly #modelUrl: string;
  #starts = 0;

  private constructor(
    scope: AsyncDisposableStack,
    folder: string,
    options: NodeRigOptions,
    { lines, nodeLines, ports, modelUrl }: Ways,
  ) {
    this.#scope = scope;
    this.folder = folder;
    this.options = options;
    this.lines = lines;
    this.nodeLines = nodeLines;
    this.#ports = ports;
    this.#modelUrl = modelUrl;
  }

  static async open(options: NodeRigOptions): Promise<NodeRig> {
    const { postgres, disk, commands, commandSeconds, isPooled = false } = options;
    await using scope = new AsyncDisposableStack();
    const { path } = scope.use(await openTemporaryDirectory());
    const usage = { cost: dollarsPerCall };
    const turns = Array.from({ length: commands }, (_, index) => {
      const command = `echo ${index} >> marks.log; sleep ${commandSeconds}`;
      return { tool_calls: [{ name: "terminal", arguments: { command } }], usage };
    });
    const end = { tool_calls: [{ name: "finish", arguments: { message: "done" } }], usage };
    const model = scope.use(await startScriptedModel({ script: { turns: [...turns, end] } }));
    const url = await postgres.createDatabase();
    if (disk !== null) {
      await moveTo(disk, postgres, url);
      scope.defer(() => drop(postgres, url));
    }
    const way = isPooled ? scope.use(await startPgbouncer(url)).url : url;
    const [lines, nodeLines, ports]: [DatabaseLine[], Line[], number[]] = [[], [], []];
    for (let index = 0; index < nodeCount; index++) {
      const port = await findSteadyPort();
      ports.push(port);
      lines.push(scope.use(await openDatabaseLine(way)));
      nodeLines.push(scope.use(await openLine(0, port)));
    }
    const rig = new NodeRig(scope.move(), path, options, { lines, nodeLines, ports, modelUrl: model.url });
    rig.nodes.push(...(await Promise.all(lines.map((_, index) => rig.#start(index)))));
    return rig;
  }

  /** The URL of any server, chosen like a load balancer does. */
  get client(): ConvokeClient {
    return this.clientOf(this.options.random.whole(nodeCount));
  }

  clientOf(index: number): ConvokeClient {
    return new ConvokeClient({ baseUrl: this.nodes[index]!.url, apiKey: key });
  }

  async begin(id: string, paidCalls: number | null): Promise<History> {
    const workspace = this.workspaceOf(id);
    await mkdir(workspace);
    const history: History = { id, acknowledged: new Map(), followed: [], paidCalls, surviving: null };
    this.histories.push(history);
    await this.#insist(async () => {
      await this.client.startConversation({
        conversation_id: id,
        agent: {
          kind: "Agent",
          llm: { model: "openai/scripted", base_url: `${this.#modelUrl}/v1`, api_key: "llm-key" },
          tools: [{ name: "terminal" }],
        },
        workspace: { kind: "LocalWorkspace", working_dir: workspace },
        initial_message: { content: [{ type: "text", text: "Work." }], run: true },
        ...(paidCalls === null ? {} : { max_budget_per_task: paidCalls * dollarsPerCall }),
      });
    });
    return history;
  }

  /** Sends a message until a server has acknowledged it; each try goes to any server. */
  async send(history: History, clientId: string): Promise<void> {
    const message = {
      content: [{ type: "text" as const, text: clientId }],
      run: true,
      client_message_id: clientId,
    };
    await this.#insist(async () => {
      const eventId = await this.client.sendMessage(history.id, message);
      history.acknowledged.set(clientId, eventId ?? "");
    });
  }

  /** Follows on one server after another, until it is aborted. */
  async follow(history: History, signal: AbortSignal): Promise<void> {
    const { random } = this.options;
    while (!signal.aborted) {
      const hop = AbortSignal.any([signal, AbortSignal.timeout(500 + random.whole(1_500))]);
      try {
        const afterEventId = history.followed.at(-1) ?? null;
        for await (const item of this.client.follow(history.id, { afterEventId, signal: hop })) {
          if (item.type === "event") history.followed.push(item.event.id ?? "");
        }
      } catch (error) {
        if (hop.aborted) continue;
        // Its last event is lost, and maybe others: it starts again.
        if (error instanceof ApiError && error.status === 422 && history.surviving !== null)
          history.followed.length = 0;
        else this.#noteRefusal(error);
      }
    }
  }

  /** The next process on the folder and the port of one that has ended. */
  async startAgain(index: number): Promise<void> {
    this.nodes[index] = await this.#start(index);
  }

  /** The database fails, and a standby that is behind by so many milliseconds replaces it. */
  async failOver(behindMs: number): Promise<void> {
    const { postgres, disk } = this.options;
    await using line = await openDatabaseLine(postgres.url);
    for (const history of this.histories)
      history.surviving ??= new Set([...history.acknowledged.values(), ...history.followed]);
    const places = disk === null ? [] : [[await placeOfDisk(postgres), disk.addFolder()] as const];
    await postgres.addStandby(line.url, places);
    line.set("hold");
    await sleep(behindMs);
    await postgres.failOver();
    for (const [place] of places) await rm(place, { recursive: true });
  }

  async marksOf(id: string): Promise<string[]> {
    const text = await readFile(join(this.workspaceOf(id), "marks.log"), "utf8").catch(() => "");
    return text.split("\n").filter((line) => line !== "");
  }

  async eventsOf(id: string, index: number): Promise<Event[]> {
    return await this.#insist(() => Array.fromAsync(this.clientOf(index).events(id)));
  }

  /** `execution_status`, from any of the servers. */
  async statusOf(id: string): Promise<string | undefined> {
    return (await this.#insist(() => this.client.getConversation(id))).execution_status;
  }

  /** The servers' records of their appends, in log order. */
  async appendsTo(id: string): Promise<AppendRecord[]> {
    const files = (await readdir(this.folder)).filter((name) => name.startsWith("appends-"));
    const texts = await Promise.all(files.map((name) => readFile(join(this.folder, name), "utf8")));
    return texts
      .flatMap((text) => text.split("\n").slice(0, -1))
      .map((line) => JSON.parse(line) as AppendRecord)
      .filter(({ conversationId }) => conversationId === id)
      .toSorted((one, other) => one.expectedSeq - other.expectedSeq);
  }

  workspaceOf(id: string): string {
    return join(this.folder, `work-${id}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node[Symbol.asyncDispose]()));
    await this.#scope.disposeAsync();
  }

  async #start(index: number): Promise<ServerProcess> {
    this.#starts += 1;
    return await ServerProcess.start({
      clone: this.#chooseRelease(),
      dataDir: join(this.folder, `node-${index}`),
      databaseUrl: this.lines[index]!.url,
      nodeAddress: `http://127.0.0.1:${this.nodeLines[index]!.port}`,
      appendsFile: join(this.folder, `appends-${this.#starts}.log`),
      port: this.#ports[index]!,
    });
  }

  /** Null for these sources. */
  #chooseRelease(): string | null {
    const { otherRelease = null, random } = this.options;
    return otherRelease === null || random.whole(2) === 0 ? null : otherRelease;
  }

  async #insist<Result>(act: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await act();
      } catch (error) {
        this.#noteRefusal(error);
        await sleep(100);
      }
    }
  }

  /** A missing conversation is allowed, and 503 with a reason; anything else is a fault. */
  #noteRefusal(error: unknown): void {
    if (error instanceof ApiError && error.status !== 503)
      this.faults.push(`${error.status}: ${error.message}`);
  }
}

type Ways = {
  readonly lines: readonly DatabaseLine[];
  readonly nodeLines: readonly Line[];
  readonly ports: readonly number[];
  readonly modelUrl: string;
};

async function moveTo({ path }: LimitedDisk, { url }: TestPostgres, database: string): Promise<void> {
  const { rows } = await asAdministrator(url, "SELECT FROM pg_tablespace WHERE spcname = 'limited'");
  if (rows.length === 0) await asAdministrator(url, `CREATE TABLESPACE limited LOCATION '${path}'`);
  await asAdministrator(url, `ALTER DATABASE ${nameOf(database)} SET TABLESPACE limited`);
}

async function placeOfDisk({ url }: TestPostgres): Promise<string> {
  const { rows } = await asAdministrator(
    url,
    "SELECT pg_tablespace_location(oid) AS place FROM pg_tablespace WHERE spcname = 'limited'",
  );
  return String(rows[0]!["place"]);
}

async function drop({ url }: TestPostgres, database: string): Promise<void> {
  await asAdministrator(url, `DROP DATABASE ${nameOf(database)} WITH (FORCE)`);
}

function nameOf(database: string): string {
  return escapeIdentifier(new URL(database).pathname.slice(1));
}

async function asAdministrator(
  url: string,
  statement: string,
): Promise<{ readonly rows: Record<string, unknown>[] }> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(statement);
  } finally {
    await client.end();
  }
}
