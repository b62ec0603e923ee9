import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { Client } from "pg";
import type { ServerConfig } from "../boot/config.ts";
import { inspectConversation, type Inspection } from "./inspect-conversation.ts";
import { describeStorageFault } from "../lib/storage-fault.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../testing/start-server.ts";
import { createTestDatabase, testDatabases, testedStore } from "../testing/test-database.ts";
import { until } from "../testing/until.ts";

const wait = { timeoutMs: 10_000, onWait: () => {} };

type Store = Pick<ServerConfig, "database">;

/** On the store that this run of the tests is about; with where it is. `makeDatabase` gives the URL of its database, if it has one. */
async function start(
  options: TestServerOptions,
  makeDatabase: () => Promise<string> = () => testDatabases.take(),
): Promise<{ server: TestServer; place: Store }> {
  if (testedStore === "sqlite") return { server: await startTestServer(options), place: { database: null } };
  const database = { url: await makeDatabase(), nodeAddress: null };
  const config = { ...options.config, database, masterSecret: "the secret of tests" };
  return { server: await startTestServer({ ...options, config }), place: { database } };
}

async function inspectIn(
  { dataDir }: Pick<TestServer, "dataDir">,
  place: Store,
  conversation: string,
  events = 10,
): Promise<Inspection> {
  const inspected = await inspectConversation({ dataDir, ...place, conversation, events, wait });
  if (inspected.type !== "found") throw new Error(`${conversation} is ${inspected.type}`);
  return inspected.inspection;
}

const call = (command: string) => ({ tool_calls: [{ name: "terminal", arguments: { command } }] });

test("a conversation at rest: its row, its lease, its fold, its newest events, and nothing wrong", async () => {
  const { server, place } = await start({ script: { turns: [call("ls"), { text: "Done." }] } });
  await using _server = server;
  const id = await server.runTo("finished", "Look here.", { max_budget_per_task: 5, tags: { team: "a" } });
  const log = await server.events(id);
  const found = await inspectIn(server, place, id, 4);
  expect(found).toMatchObject({
    id,
    row: {
      execution_status: "finished",
      is_active: false,
      config: { workspace: { working_dir: server.workspaceDir }, tags: { team: "a" } },
      sizes: { events: log.length },
    },
    lease: { generation: 1, node: { is_alive: true } },
    state: {
      execution_status: "finished",
      run: null,
      approvals: { waiting: [], deadline: null },
      queued: [],
      budget: { limit: 5 },
    },
    open_actions: [],
    execution_record: "here",
    parts: [],
    store: { last_seq: log.length, damages: [] },
    conclusions: ["No run is in progress; its status is finished."],
  });
  expect(found.events.map(({ id }) => id)).toEqual(log.slice(-4).map((event) => event.id));
  expect(found.events.find(({ kind }) => kind === "MessageEvent")).toMatchObject({
    source: "agent",
    summary: "Done.",
  });
  expect(found.row.sizes.event_bytes).toBeGreaterThan(1_000);
  expect(found.lease.node?.started_at).not.toBeNull();
});

test("a run in progress is read beside its server: the call that runs, by the record of executions, and the lease stays", async () => {
  const { server, place } = await start({ script: { turns: [call("hold on"), { text: "Done." }] } });
  await using _server = server;
  const { id } = await server.createConversation({ text: "Begin." });
  await until(() => server.quickTools.started.length > 0);
  const [first, second] = [await inspectIn(server, place, id), await inspectIn(server, place, id)];
  expect(first).toMatchObject({
    row: { execution_status: "running", is_active: true },
    lease: { node: { is_alive: true } },
    state: { execution_status: "running", run: { model_answers: 1, is_attended: false, retry_until: null } },
    open_actions: [{ tool_name: "terminal", is_waiting: false, execution: "started", ended_at: null }],
    conclusions: [expect.stringMatching(/^The call \S+ of terminal runs since 2/)],
  });
  expect(first.open_actions[0]?.started_at).not.toBeNull();
  expect(first.state?.run?.began_at).not.toBeNull();
  expect(second.lease).toEqual(first.lease);
  server.quickTools.release();
  await server.waitForStatus(id, "finished");
  expect((await inspectIn(server, place, id)).open_actions).toEqual([]);
});

test("a run that waits for a person names the calls and until when", async () => {
  const { server, place } = await start({ script: { turns: [call("ls"), { text: "Done." }] } });
  await using _server = server;
  const id = await server.runTo("waiting_for_confirmation", "Begin.", {
    confirmation_policy: { kind: "AlwaysConfirm" },
    approval_policy: { timeout_seconds: 3_600, on_timeout: "reject" },
  });
  await server.client.sendMessage(id, { content: [{ type: "text", text: "And this?" }] });
  const found = await inspectIn(server, place, id);
  const [action] = found.open_actions;
  expect(found).toMatchObject({
    state: {
      approvals: { waiting: [action?.action_id], deadline: expect.stringMatching(/^2/) },
      queued: [{ is_from_user: true }],
    },
    open_actions: [{ is_waiting: true, execution: "none", started_at: null }],
    conclusions: [expect.stringMatching(/^It waits for a person to accept or reject 1 call, until 2/)],
  });
});

test("a server that ended leaves its run to the next one, and the inspection says so", async () => {
  const { server, place } = await start({ script: { turns: [call("hold on"), { text: "Done." }] } });
  await using _server = server;
  const { id } = await server.createConversation({ text: "Begin." });
  await until(() => server.quickTools.started.length > 0);
  await server.close();
  expect(await inspectIn(server, place, id)).toMatchObject({
    row: { is_active: true },
    lease: { node: null },
    conclusions: [expect.stringMatching(/^It is active and no server owns it/)],
  });
});

test("an id is found by a unique beginning, with and without dashes, and nothing else is", async () => {
  const { server, place } = await start({ script: { turns: [] } });
  await using _server = server;
  const ids = ["aaaa0000-0000-4000-8000-000000000001", "aaaa1000-0000-4000-8000-000000000002"];
  for (const id of ids) await server.createConversation({ conversation_id: id });
  const { dataDir } = server;
  const ask = async (conversation: string) =>
    await inspectConversation({ dataDir, ...place, conversation, events: 1, wait });
  for (const name of ["aaaa0", "AAAA0000-0000-4", "aaaa00000000400080", ids[0]!, ids[0]!.replaceAll("-", "")])
    expect(await ask(name)).toMatchObject({ type: "found", inspection: { id: ids[0] } });
  expect(await ask("aaaa")).toEqual({ type: "ambiguous", ids });
  for (const name of ["aaaa2", "", "no id", "aaaa0%", `${ids[0]}0`, "g"])
    expect(await ask(name)).toEqual({ type: "missing" });
});

test("W5: neither keys nor secrets of a conversation are in search results", async () => {
  const { server, place } = await start({ script: { turns: [{ text: "Done." }] } });
  await using _server = server;
  const { agent } = server.startRequest();
  // An address with a password in it is refused when the model is called.
  const id = await server.runTo("error", "Look.", {
    agent: {
      ...agent,
      llm: {
        ...agent.llm,
        api_key: "canary-key",
        extra_headers: { "X-Token": "canary-header" },
        base_url: `${server.model.url.replace("//", "//user:canary-password@")}/v1`,
      },
      mcp_config: { mcpServers: { one: { command: "true", env: { TOKEN: "canary-mcp" } } } },
    },
    secrets: { NOTE: { kind: "StaticSecret", value: "canary-note" } },
  });
  const found = await inspectIn(server, place, id, 100);
  expect(found.row.config?.agent.llm.model).toBe("openai/scripted");
  expect(JSON.stringify(found)).not.toContain("canary");
});

describe.runIf(testedStore === "sqlite")("on a data folder", () => {
  async function finished(): Promise<{ server: TestServer; id: string }> {
    const server = await startTestServer({ script: { turns: [{ text: "Done." }] } });
    const id = await server.runTo("finished", "Look.");
    await server.close();
    return { server, id };
  }

  function change({ dataDir }: TestServer, sql: string): void {
    using database = new DatabaseSync(join(dataDir, "journal.db"), { enableForeignKeyConstraints: false });
    database.exec(sql);
  }

  test("F5: damaged events, rows and configurations are named, and the rest is shown", async () => {
    const { server, id } = await finished();
    await using _server = server;
    change(server, "UPDATE events SET json = replace(json, 'Done', 'Gone')");
    change(server, "UPDATE conversation_documents SET config = '{', snapshot = NULL, snapshot_seq = 0");
    const found = await inspectIn(server, { database: null }, id);
    expect(found).toMatchObject({
      row: { config: null, execution_status: "finished" },
      state: null,
      store: {
        damages: ["its configuration is no JSON.", expect.stringMatching(/^event \d+ is gone or not what/)],
      },
    });
    expect(found.conclusions).toEqual([
      expect.stringMatching(/^2 damages were found/),
      expect.stringMatching(/cannot be folded/),
    ]);
    expect(found.events.filter(({ kind }) => kind === "damaged")).toHaveLength(1);
  });

  test("F5: a damaged record of executions is named, and everything else is still shown", async () => {
    const server = await startTestServer({ script: { turns: [call("ls"), { text: "Done." }] } });
    await using _server = server;
    const confirmation_policy = { kind: "AlwaysConfirm" } as const;
    const id = await server.runTo("waiting_for_confirmation", "Begin.", { confirmation_policy });
    await server.close();
    const file = join(server.dataDir, "conversations", id, "executions.sqlite");
    for (const end of ["-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
    writeFileSync(file, "x".repeat(4_096));
    const found = await inspectIn(server, { database: null }, id);
    expect(found.open_actions).toMatchObject([{ execution: "unknown", is_waiting: true }]);
    expect(found.store.damages).toEqual([expect.stringMatching(`${file} is damaged`)]);
  });

  test("a file that is no database is refused by its name", async () => {
    const { server, id } = await finished();
    await using _server = server;
    const path = join(server.dataDir, "journal.db");
    writeFileSync(path, "x".repeat(65_536));
    const failure = await inspectIn(server, { database: null }, id).catch((error: unknown) => error);
    expect(describeStorageFault(failure)).toContain(`${path} is damaged`);
  });

  test("a newer store, an older one, and a folder without one are refused in a sentence", async () => {
    const { server, id } = await finished();
    await using _server = server;
    const ask = async (dataDir = server.dataDir) => await inspectIn({ dataDir }, { database: null }, id);
    change(server, "PRAGMA user_version = 99");
    await expect(ask()).rejects.toThrow(/has format 99, this version reads up to 4: use a newer version/);
    change(server, "PRAGMA user_version = 1");
    await expect(ask()).rejects.toThrow(/format 1 of a development version.*name another data folder/);
    await expect(ask(join(server.folder, "nowhere"))).rejects.toThrow(/There is no data folder/);
    rmSync(join(server.dataDir, "journal.db"));
    await expect(ask()).rejects.toThrow(/There is no journal in the data folder/);
  });
});

describe.runIf(testedStore === "postgres")("on a database", () => {
  async function run(url: string, sql: string): Promise<unknown[]> {
    const client = new Client(url);
    await client.connect();
    try {
      return (await client.query(sql)).rows as unknown[];
    } finally {
      await client.end();
    }
  }

  test("the inspection is no node, and changes no row", async () => {
    const { server, place } = await start({ script: { turns: [{ text: "Done." }] } });
    await using _server = server;
    const id = await server.runTo("finished", "Look.");
    const { url } = place.database!;
    const state = async () => [
      await run(url, "SELECT id, dead_at FROM convoke.nodes ORDER BY id"),
      await run(url, "SELECT * FROM convoke.heads"),
    ];
    const before = await state();
    await inspectIn(server, place, id);
    expect(await state()).toEqual(before);
  });

  test("a node without a heartbeat is not alive, and its records are on another machine", async () => {
    const { server, place } = await start({ script: { turns: [call("hold on"), { text: "Done." }] } });
    await using _server = server;
    const { id } = await server.createConversation({ text: "Begin." });
    await until(() => server.quickTools.started.length > 0);
    const { url } = place.database!;
    // As one that was killed leaves it.
    await run(url, "INSERT INTO convoke.nodes (id) VALUES ('killed')");
    await run(url, "UPDATE convoke.heads SET node_id = 'killed', machine = 'another'");
    expect(await inspectIn(server, place, id)).toMatchObject({
      lease: { node: { id: "killed", is_alive: false } },
      execution_record: "elsewhere",
      open_actions: [{ execution: "unknown" }],
      conclusions: [
        expect.stringMatching(/^The server that owned it has died/),
        expect.stringMatching(
          /^Whether the call \S+ of terminal has begun is in a record that cannot be read here/,
        ),
      ],
    });
  });

  test("F5: a damaged event is named", async () => {
    const { server, place } = await start({ script: { turns: [{ text: "Done." }] } });
    await using _server = server;
    const id = await server.runTo("finished", "Look.");
    await run(place.database!.url, "UPDATE convoke.events SET json = replace(json, 'Done', 'Gone')");
    expect((await inspectIn(server, place, id)).store.damages).toEqual([
      expect.stringMatching(/^event \d+ is gone or not what/),
    ]);
    await server.close();
  });

  test("a newer store, an older one, an empty database and one that does not answer are refused in a sentence", async () => {
    const { server, place } = await start({ script: { turns: [] } }, createTestDatabase);
    await using _server = server;
    const { id } = await server.createConversation();
    const { url } = place.database!;
    await server.close();
    await run(url, "UPDATE convoke.parts SET version = 99, oldest = 98 WHERE name = 'journal'");
    await expect(inspectIn(server, place, id)).rejects.toThrow(
      /"journal".*has format 99.*use a newer version/,
    );
    await run(url, "UPDATE convoke.parts SET version = 2, oldest = 0 WHERE name = 'journal'");
    await expect(inspectIn(server, place, id)).rejects.toThrow(/format 2, of a development version/);
    const empty = { url: await createTestDatabase(), nodeAddress: null };
    await expect(inspectIn(server, { database: empty }, id)).rejects.toThrow(/has no conversations/);
    const unreachable = { url: "postgres://127.0.0.1:1/x", nodeAddress: null };
    await expect(inspectIn(server, { database: unreachable }, id)).rejects.toThrow(/nobody listens there/);
  });
});
