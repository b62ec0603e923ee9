import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { HookConfig, StartConversationRequest } from "@convoke/protocol";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readIfThere } from "../lib/read-if-there.ts";
import { checkLeaksAfterEach } from "./check-leaks.ts";
import { openDatabaseLine } from "./database-line.ts";
import { startScriptedModel } from "./scripted-model/scripted-model-server.ts";
import { ServerProcess } from "./server-process.ts";
import { probePostgres, startPostgres, type TestPostgres } from "./start-postgres.ts";
import { TestSocket } from "./test-socket.ts";

/** With `CONVOKE_EVERY_CASE=1`: what holds for a tool is by day. */
const testAtNight = test.runIf(process.env["CONVOKE_EVERY_CASE"] === "1");

const probe = probePostgres();
/** On an idle machine a node without heartbeats is found dead within seven seconds. */
const waiting = { timeout: 90_000 };
const id = "22222222-2222-4222-8222-222222222222";

describe.skipIf(!probe.isUsable)(`servers that are killed, on PostgreSQL (${probe.detail})`, () => {
  checkLeaksAfterEach();
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(async () => {
    await postgres[Symbol.asyncDispose]();
  });

  test.each([
    ["P6, P28: another server, on a folder of its own, resumes the run", "other"],
    ["P2, P6: the next server on its folder resumes the run", "own"],
  ] as const)(
    "kill -9 in a command: %s, and runs nothing twice",
    async (_, folder) => {
      await using place = await openPlace();
      const databaseUrl = await postgres.createDatabase();
      const dataDir = (name: string): string => join(place.path, name);
      await using first = await ServerProcess.start({ dataDir: dataDir("own"), databaseUrl });
      const start = async (): Promise<ServerProcess> =>
        await ServerProcess.start({ dataDir: dataDir(folder), databaseUrl });
      await using beside = folder === "other" ? await start() : null;
      await begin(first, place);
      await expect.poll(() => readIfThere(place.record), waiting).not.toBeNull();
      await first.kill();
      await using next = beside === null ? await start() : null;
      const { client } = (beside ?? next)!;
      await expect
        .poll(async () => (await client.getConversation(id)).execution_status, waiting)
        .toBe("finished");
      expect(await readFile(place.record, "utf8")).toBe("began\n");
      const { items } = await client.searchEvents(id, { kind: "AgentErrorEvent" });
      expect(items).toMatchObject([{ error: expect.stringContaining("unknown") as string }]);
    },
    300_000,
  );

  test("P6, P27: a server that is cut off from the database between a call's record and its tool starts nothing", async () => {
    await using place = await openPlace();
    const databaseUrl = await postgres.createDatabase();
    await using line = await openDatabaseLine(databaseUrl);
    const traceFile = join(place.path, "trace");
    await using cutOff = await ServerProcess.start({
      dataDir: join(place.path, "one"),
      databaseUrl: line.url,
      traceFile,
      failPoints: "execute.before=delay:10000:1",
    });
    await using other = await ServerProcess.start({ dataDir: join(place.path, "two"), databaseUrl });
    await begin(cutOff, place);
    await expect.poll(() => readIfThere(traceFile), waiting).toContain("execute.before 1");
    line.set("drop");
    await expect
      .poll(async () => (await other.client.getConversation(id)).execution_status, waiting)
      .toBe("finished");
    // The tool host has the call now, and its outcome has not reached this server.
    const records = join(place.path, "one", "conversations", id, "executions.sqlite");
    await expect.poll(() => existsSync(records), waiting).toBe(true);
    line.set("pass");
    const isReady = async (): Promise<boolean> => (await fetch(`${cutOff.url}/ready`)).ok;
    await expect.poll(isReady, waiting).toBe(true);
    await cutOff[Symbol.asyncDispose]();
    expect(await readIfThere(place.record)).toBeNull();
    const { items } = await other.client.searchEvents(id, { kind: "AgentErrorEvent" });
    expect(items).toMatchObject([{ error: expect.stringContaining("unknown") as string }]);
  }, 300_000);

  testAtNight(
    "P27: a server that is cut off from the database between a call's record and its hook starts no hook",
    async () => {
      await using place = await openPlace();
      const databaseUrl = await postgres.createDatabase();
      await using line = await openDatabaseLine(databaseUrl);
      const traceFile = join(place.path, "trace");
      // The conversation with its message, then the call.
      const point = "append.after 2";
      await using cutOff = await ServerProcess.start({
        dataDir: join(place.path, "one"),
        databaseUrl: line.url,
        traceFile,
        failPoints: "append.after=delay:10000:2",
      });
      await using other = await ServerProcess.start({ dataDir: join(place.path, "two"), databaseUrl });
      const hook = { command: "echo hooked >> hook.log" };
      const moments = ["pre_tool_use", "post_tool_use", "session_end"];
      const groups = moments.map((moment) => [moment, [{ matcher: "terminal", hooks: [hook] }]]);
      await begin(cutOff, place, { hook_config: Object.fromEntries(groups) as HookConfig });
      await expect.poll(() => readIfThere(traceFile), waiting).toContain(point);
      line.set("drop");
      await expect
        .poll(async () => (await other.client.getConversation(id)).execution_status, waiting)
        .toBe("finished");
      const { items } = await other.client.searchEvents(id, { kind: "AgentErrorEvent" });
      expect(items).toMatchObject([{ error: expect.stringContaining("unknown") as string }]);
      // The hook is next, and the outcome of the call has not reached this server.
      await expect.poll(() => readIfThere(traceFile), waiting).toContain(`${point} over`);
      line.set("pass");
      const isReady = async (): Promise<boolean> => (await fetch(`${cutOff.url}/ready`)).ok;
      await expect.poll(isReady, waiting).toBe(true);
      await cutOff[Symbol.asyncDispose]();
      expect(await readIfThere(join(place.workspace, "hook.log"))).toBeNull();
    },
    300_000,
  );

  test("P27: a server whose clock jumps by hours exchanges requests with the others as before, and does not count as dead", async () => {
    await using place = await openPlace();
    const databaseUrl = await postgres.createDatabase();
    const start = async (name: string): Promise<ServerProcess> =>
      await ServerProcess.start({ dataDir: join(place.path, name), databaseUrl });
    await using owner = await start("one");
    await using other = await start("two");
    await begin(owner, place);
    // The node that works on it keeps it.
    await expect.poll(() => readIfThere(place.record), waiting).not.toBeNull();
    const headers = { "x-session-api-key": other.key };
    using socket = new TestSocket(`${other.url}/sockets/events/${id}`, { headers });
    await socket.opened;
    let sent = 0;
    for (const hours of [30, -30]) {
      for (const server of [owner, other]) {
        await server.shiftClock(hours * 3_600_000);
        sent += 1;
        // A message over a socket is only accepted with the ticket.
        socket.send({ role: "user", content: `message ${sent}`, client_message_id: `${sent}`, run: false });
        await socket.until((frames) => frames.filter(({ kind }) => kind === "Accepted").length === sent);
        await server.shiftClock(0);
      }
    }
    const events = await Array.fromAsync(owner.client.events(id));
    expect(events.filter(({ kind }) => kind === "MessageEvent")).toHaveLength(5);
    const times = events.map((event) => event.timestamp ?? "");
    expect(times).toEqual(times.toSorted());
  });

  type Place = {
    readonly path: string;
    readonly workspace: string;
    readonly record: string;
    readonly modelUrl: string;
  };

  async function begin(
    server: ServerProcess,
    place: Place,
    more: Pick<StartConversationRequest, "hook_config"> = {},
  ): Promise<void> {
    await server.client.startConversation({
      conversation_id: id,
      agent: {
        kind: "Agent",
        llm: { model: "openai/scripted", base_url: `${place.modelUrl}/v1`, api_key: "llm-key" },
        tools: [{ name: "terminal" }],
      },
      workspace: { kind: "LocalWorkspace", working_dir: place.workspace },
      initial_message: { content: [{ type: "text", text: "Work." }], run: true },
      ...more,
    });
  }

  async function openPlace(): Promise<Place & AsyncDisposable> {
    await using scope = new AsyncDisposableStack();
    const { path } = scope.use(await openTemporaryDirectory());
    const workspace = join(path, "work");
    await mkdir(workspace);
    const turns = [
      { tool_calls: [{ name: "terminal", arguments: { command: "echo began >> side.log; sleep 305" } }] },
      { tool_calls: [{ name: "finish", arguments: { message: "done" } }] },
    ];
    const model = scope.use(await startScriptedModel({ script: { turns } }));
    const owned = scope.move();
    return {
      path,
      workspace,
      record: join(workspace, "side.log"),
      modelUrl: model.url,
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    };
  }
});
