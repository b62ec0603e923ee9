import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConvokeClient } from "@convoke/client";
import type { OpenedPreview, ShellSummary, TerminalFrame } from "@convoke/protocol";
import { allowedEnvironment, defaultTools, type TerminalUpdate } from "@convoke/tool-host";
import { openTemporaryDirectory, XtermPerson } from "@convoke/tool-host/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startScriptedModel } from "../../../testing/scripted-model/scripted-model-server.ts";
import { ServerProcess } from "../../../testing/server-process.ts";
import { probePostgres, startPostgres, type TestPostgres } from "../../../testing/start-postgres.ts";
import { startTestServer } from "../../../testing/start-server.ts";
import { TestSocket } from "../../../testing/test-socket.ts";

const probe = probePostgres();
const waiting = { timeout: 90_000 };
const size = { columns: 90, rows: 25 };
const portProgram = `require("node:http").createServer((request, response) => response.end("asked for " + request.url))
  .listen(0, "127.0.0.1", function () { console.log("port " + this.address().port); })`;

const turns = [
  { tool_calls: [{ name: "terminal", arguments: { command: "here=agent; echo said by $here" } }] },
  { tool_calls: [{ name: "finish", arguments: { message: "Yours." } }] },
];

describe.skipIf(!probe.isUsable)(`what is open at another server (${probe.detail})`, () => {
  let scope: AsyncDisposableStack;
  let postgres: TestPostgres;
  let folder: string;
  let workspace: string;
  let owner: ServerProcess;
  let other: ServerProcess;

  beforeAll(async () => {
    scope = new AsyncDisposableStack();
    postgres = scope.use(await startPostgres());
    folder = scope.use(await openTemporaryDirectory()).path;
    workspace = join(folder, "work");
    await mkdir(workspace);
    const databaseUrl = await postgres.createDatabase();
    const start = async (name: string): Promise<ServerProcess> =>
      scope.use(await ServerProcess.start({ dataDir: join(folder, name), databaseUrl }));
    owner = await start("owner");
    other = await start("other");
  });
  afterAll(async () => {
    await scope?.disposeAsync();
  });

  /** With a model of its own, so that each begins at the first turn. */
  async function begin(client: ConvokeClient): Promise<string> {
    const model = scope.use(await startScriptedModel({ script: { turns } }));
    const { id } = await client.startConversation({
      agent: {
        kind: "Agent",
        llm: { model: "openai/scripted", base_url: `${model.url}/v1`, api_key: "llm-key" },
        tools: [{ name: "terminal" }],
      },
      workspace: { kind: "LocalWorkspace", working_dir: workspace },
      initial_message: { content: [{ type: "text", text: "Begin." }], run: true },
    });
    await expect
      .poll(async () => (await client.getConversation(id)).execution_status, waiting)
      .toBe("finished");
    return id;
  }

  const call = async (method: string, path: string, body?: unknown): Promise<Response> =>
    await fetch(`${other.url}${path}`, {
      method,
      headers: { "x-session-api-key": other.key, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  const attach = (path: string): TestSocket =>
    new TestSocket(`${other.url}${path}`, { headers: { "x-session-api-key": other.key } });

  const shown = (socket: TestSocket): string => socket.events.map(({ text = "" }) => String(text)).join("");

  async function openShell(id: string): Promise<ShellSummary> {
    const response = await call("POST", `/api/conversations/${id}/shells`, size);
    expect(response.status).toBe(201);
    return (await response.json()) as ShellSummary;
  }

  const until = async (socket: TestSocket, text: string): Promise<void> =>
    await socket.until(() => shown(socket).includes(text), waiting.timeout);

  test("U21: a shell works through a node that does not own the conversation, and is there after a reconnect", async () => {
    const id = await begin(owner.client);
    const shell = await openShell(id);
    const path = `/sockets/shells/${id}?shell=${shell.id}`;
    {
      using socket = attach(path);
      await socket.untilCount(1, waiting.timeout);
      socket.send({
        type: "type",
        text: "pwd; here=person; for i in $(seq 1 3000); do echo line $i; done\r",
      });
      await until(socket, "line 3000\r\n");
      expect(shown(socket)).toContain(workspace);
    }
    using again = attach(path);
    await until(again, "line 3000\r\n");
    again.send({ type: "type", text: "echo still $here; exit 3\r" });
    await until(again, "still person");
    expect(await again.closed).toEqual({ code: 1001, reason: "The shell has ended" });
    expect(again.events.at(-1)).toEqual({ type: "ended", exit_code: 3 });
    const wrong = new TestSocket(`${other.url}${path}`, { headers: { "x-session-api-key": "wrong" } });
    expect(await wrong.opened).toBe(403);
    using missing = attach(`/sockets/shells/${id}?shell=none`);
    expect((await missing.closed).code).toBe(4004);
  });

  test("issue 11.4: the agent's terminal is taken and given back through another server", async () => {
    const url = await postgres.createDatabase();
    const config = { database: { url, nodeAddress: null }, masterSecret: "the secret of all servers" };
    await using worker = await startTestServer({
      script: { turns },
      tools: defaultTools(),
      environment: allowedEnvironment({ PATH: process.env["PATH"], HOME: "/nonexistent" }),
      config,
    });
    await using beside = await startTestServer({ config: { ...config, workspaceRoot: worker.workspaceDir } });
    const id = await worker.runTo("finished", "Begin.");
    await using person = new XtermPerson((inputs, signal) =>
      toUpdates(beside.client.attachTerminal(id, { inputs, signal })),
    );
    await person.sees("said by agent");
    await person.take({ columns: 100, rows: 30 });
    await person.sees(/[$#]$/m);
    person.press("stty size; echo and by $here\r");
    await person.sees(/^30 100$/m);
    await person.sees("and by agent");
    const path = `/api/conversations/${id}/terminals`;
    expect((await beside.call("GET", path)).json).toMatchObject({ items: [{ name: "main", is_lent: true }] });
    await person.give();
    await expect
      .poll(async () => (await beside.call("GET", path)).json, waiting)
      .toMatchObject({ items: [{ name: "main", is_lent: false }] });
  });

  test("a port of the workspace is served through another node", async () => {
    const id = await begin(owner.client);
    const shell = await openShell(id);
    using socket = attach(`/sockets/shells/${id}?shell=${shell.id}`);
    await writeFile(join(workspace, "port.cjs"), portProgram);
    await socket.untilCount(1, waiting.timeout);
    socket.send({ type: "type", text: `"${process.execPath}" port.cjs\r` });
    await socket.until(() => /port (\d+)/.test(shown(socket)), waiting.timeout);
    const port = Number(/port (\d+)/.exec(shown(socket))![1]);
    const opened = await call("POST", `/api/conversations/${id}/previews`, { port });
    expect(opened.status).toBe(201);
    const { path } = (await opened.json()) as OpenedPreview;
    const page = await fetch(`${other.url}/${path}page?a=b`);
    expect(await page.text()).toBe("asked for /page?a=b");
    socket.send({ type: "type", text: "\u0003" });
    await expect.poll(async () => (await fetch(`${other.url}/${path}`)).status, waiting).toBe(404);
  });

  test("P28: a client that is connected when the server is killed reconnects, and finds the conversation at the next server", async () => {
    const id = await begin(owner.client);
    const shell = await openShell(id);
    using socket = attach(`/sockets/shells/${id}?shell=${shell.id}`);
    await socket.untilCount(1, waiting.timeout);
    await owner.kill();
    expect(await socket.closed).toMatchObject({ code: 1013 });
    await expect
      .poll(async () => (await call("GET", `/api/conversations/${id}/shells`)).status, waiting)
      .toBe(200);
    // It went with the server that had it.
    using gone = attach(`/sockets/shells/${id}?shell=${shell.id}`);
    expect((await gone.closed).code).toBe(4004);
    const next = await openShell(id);
    using again = attach(`/sockets/shells/${id}?shell=${next.id}`);
    await again.untilCount(1, waiting.timeout);
    again.send({ type: "type", text: "echo back again\r" });
    await until(again, "back again");
  });
});

async function* toUpdates(frames: AsyncIterable<TerminalFrame>): AsyncGenerator<TerminalUpdate> {
  for await (const frame of frames) {
    if (frame.type !== "screen" && frame.type !== "lent") yield frame;
    else yield { ...frame, isLent: frame.is_lent, isYours: frame.is_yours };
  }
}
