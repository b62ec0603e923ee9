import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { webhookDefaults } from "../webhooks/webhook.ts";
import { probePostgres, startPostgres, type TestPostgres } from "./start-postgres.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "./start-server.ts";
import { TestReceiver } from "./test-receiver.ts";
import { TestSocket } from "./test-socket.ts";

const probe = probePostgres();
const masterSecret = "the secret of all servers";
/** Timeout for steps that take milliseconds on an idle machine. */
const waiting = { timeout: 90_000 };
const say = (text: string) => ({ content: [{ type: "text" as const, text }], run: true });
const command = (text: string) => ({ tool_calls: [{ name: "terminal", arguments: { command: text } }] });

// What holds on one server holds on three, whichever is asked. Killed servers: node-cycles and killed-node.
describe.skipIf(!probe.isUsable)(`three servers on PostgreSQL (${probe.detail})`, () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(async () => {
    await postgres[Symbol.asyncDispose]();
  });

  test("P17: an approval is listed and answered at any server, outlives the one that asked, and is answered once", async () => {
    await using three = await openThree({ script: { turns: [command("look"), { text: "Done." }] } });
    const [asker, second, third] = three.servers;
    const { id } = await asker.createConversation({
      text: "go",
      confirmation_policy: { kind: "AlwaysConfirm" },
    });
    await asker.waitForStatus(id, "waiting_for_confirmation");
    const path = `/api/conversations/${id}/approvals`;
    const waitingAt = async (server: TestServer): Promise<string[]> => {
      const { items } = (await server.call("GET", path)).json as { items: { action_id: string }[] };
      return items.map((item) => item.action_id);
    };
    const waits = await waitingAt(asker);
    expect(waits).toHaveLength(1);
    expect(await waitingAt(second)).toEqual(waits);
    await asker.close();
    expect(await waitingAt(third)).toEqual(waits);
    const answer = async (server: TestServer, actionId: string): Promise<number> => {
      const body = { answers: [{ action_id: actionId, accept: true }] };
      return (await server.call("POST", path, body)).status;
    };
    const unknown = "00000000-0000-4000-8000-000000000000";
    expect([404, 409]).toContain(await answer(second, unknown));
    expect(await answer(third, waits[0]!)).toBe(200);
    await second.waitForStatus(id, "finished");
    expect([404, 409]).toContain(await answer(second, waits[0]!));
    const began = three.servers.flatMap(({ quickTools }) => quickTools.started);
    expect(began).toEqual(["look"]);
  });

  test("client tools and queued messages: any server takes them, and they outlive the one that asked", async () => {
    const weather = (id: string) => ({ tool_calls: [{ id, name: "weather", arguments: {} }] });
    const turns = [weather("a"), weather("b"), { text: "Rain." }, { text: "Later." }];
    await using three = await openThree({ script: { turns } });
    const [asker, second, third] = three.servers;
    const tool = { name: "weather", description: "Reports the weather.", waits_for_result: true };
    const { id } = await asker.createConversation({ text: "go", client_tools: [tool] });
    const path = `/api/conversations/${id}/tool_results`;
    const pendingAt = async (server: TestServer): Promise<string[]> => {
      const { items } = (await server.call("GET", path)).json as { items: { tool_call_id: string }[] };
      return items.map((item) => item.tool_call_id);
    };
    const result = (call: string) => ({ results: [{ tool_call_id: call, content: `rain ${call}` }] });
    await expect.poll(() => pendingAt(second), waiting).toEqual(["a"]);
    expect((await second.call("POST", path, result("a"))).status).toBe(200);
    await expect.poll(() => pendingAt(third), waiting).toEqual(["b"]);
    const queued = { ...say("and then?"), while_running: "queue" };
    expect((await second.call("POST", `/api/conversations/${id}/events`, queued)).status).toBe(200);
    await asker.close();
    expect(await pendingAt(third)).toEqual(["b"]);
    const socket = new WebSocket(
      `${third.url.replace("http", "ws")}/sockets/events/${id}?session_api_key=${third.key}`,
    );
    await new Promise((resolve) => socket.addEventListener("message", resolve, { once: true }));
    socket.send(JSON.stringify({ type: "tool_results", ...result("b") }));
    const texts = async (): Promise<string[]> =>
      (await second.events(id)).flatMap((event) => {
        if (event.kind === "ObservationEvent") return [event.tool_call_id];
        if (event.kind !== "MessageEvent") return [];
        const [part] = event.llm_message.content ?? [];
        return [part && "text" in part ? part.text : ""];
      });
    const all = ["go", "a", "b", "Rain.", "and then?", "Later."];
    await expect.poll(texts, waiting).toEqual(all);
    socket.close();
    await second.waitForStatus(id, "finished");
  });

  test("P18: a message that is sent to all servers at once under one id is there once, and runs once", async () => {
    await using three = await openThree({ script: { turns: [{ text: "Yes." }] } });
    const { id } = await three.servers[0].createConversation();
    const sends = Array.from({ length: 20 }, async (_, index) => {
      const message = { ...say("once"), client_message_id: "the same" };
      return await three.servers[index % 3]!.client.sendMessage(id, message);
    });
    expect(new Set(await Promise.all(sends)).size).toBe(1);
    await three.servers[1].waitForStatus(id, "finished");
    const events = await three.servers[2].events(id);
    expect(events.filter(({ kind, source }) => kind === "MessageEvent" && source === "user")).toHaveLength(1);
    expect(three.servers[0].model.requests).toHaveLength(1);
  });

  test("P26: messages that come to any server while runs end are all answered", async () => {
    await using three = await openThree({ script: { turns: [{ text: "Yes." }], loop: true } });
    const { id } = await three.servers[0].createConversation();
    for (let number = 0; number < 30; number += 1) {
      await three.servers[number % 3]!.client.sendMessage(id, say(`message ${number}`));
      // Each third one comes when the previous run has just ended.
      if (number % 3 === 0) await three.servers[1].waitForStatus(id, "finished");
    }
    await expect
      .poll(async () => {
        const messages = (await three.servers[2].events(id)).filter(({ kind }) => kind === "MessageEvent");
        return messages.at(-1)?.source;
      }, waiting)
      .toBe("agent");
    await three.servers[0].waitForStatus(id, "finished");
  });

  test("P36: the first frame at whatever server is the whole state, and its version never goes back", async () => {
    await using three = await openThree({ script: { turns: [{ text: "Yes." }], loop: true } });
    const { id } = await three.servers[0].createConversation();
    const versions: number[] = [];
    for (const server of [...three.servers, ...three.servers]) {
      using socket = new TestSocket(`${server.url}/sockets/events/${id}`, {
        headers: { "x-session-api-key": server.key },
      });
      await socket.untilCount(1);
      const first = socket.events[0] as { key: string; value: { version: number } };
      expect(first.key).toBe("full_state");
      versions.push(first.value.version);
      await server.client.sendMessage(id, say("more"));
      await server.waitForStatus(id, "finished");
    }
    expect(versions).toEqual(versions.toSorted((one, other) => one - other));
    expect(new Set(versions).size).toBe(versions.length);
  });

  test("P42: events of all servers reach a receiver that was down, though the server that posts has gone", async () => {
    await using receiver = await TestReceiver.start();
    receiver.isUp = false;
    const hook = { ...webhookDefaults, base_url: receiver.url, flush_delay: 0, retry_delay: 0.05 };
    await using three = await openThree({
      script: { turns: [{ text: "Yes." }], loop: true },
      config: { webhooks: [{ ...hook, num_retries: 1_000 }] },
    });
    const ids = await Promise.all(three.servers.map(async (server) => await server.runTo("finished", "go")));
    await expect.poll(() => receiver.refused, waiting).toBeGreaterThan(0);
    // Any of them may be the one that posts.
    await three.servers[0].close();
    await three.servers[1].close();
    receiver.isUp = true;
    for (const id of ids) {
      const expected = (await three.servers[2].events(id)).map((event) => event.id!);
      await expect.poll(() => [...new Set(receiver.eventsOf(id))], waiting).toEqual(expected);
    }
  });

  test("P43: a stop at any server ends the command at the one that runs it, however often it is asked for", async () => {
    await using three = await openThree({ script: { turns: [command("hold on"), { text: "Late." }] } });
    const [owner, second, third] = three.servers;
    const { id } = await owner.createConversation({ text: "go" });
    await expect.poll(() => owner.quickTools.started, waiting).toEqual(["hold on"]);
    await Promise.all(Array.from({ length: 10 }, (_, index) => three.servers[index % 3]!.client.stop(id)));
    const stopped = await second.client.getConversation(id);
    expect(stopped.execution_status).not.toBe("running");
    const events = await third.events(id);
    expect(events.filter(({ kind }) => kind === "ActionEvent")).toHaveLength(1);
    expect(events.filter(({ kind }) => ["ObservationEvent", "AgentErrorEvent"].includes(kind))).toHaveLength(
      1,
    );
    expect(owner.model.requests).toHaveLength(1);
    await third.client.stop(id);
    expect((await owner.client.getConversation(id)).execution_status).toBe(stopped.execution_status);
    expect(await third.events(id)).toEqual(events);
  });

  test("P48: what a call cost is the same at all servers, and a budget holds wherever the next one is asked for", async () => {
    const turns = [{ text: "Yes.", usage: { cost: 0.75 } }];
    await using three = await openThree({ script: { turns, loop: true } });
    const [owner, second, third] = three.servers;
    const { id } = await owner.createConversation({ text: "go", max_budget_per_task: 1 });
    await owner.waitForStatus(id, "finished");
    const spentAt = async (server: TestServer): Promise<unknown> =>
      (await server.call("GET", `/api/conversations/${id}/spend`)).json;
    const spent = await spentAt(owner);
    expect(JSON.stringify(spent)).toContain("0.75");
    for (const server of [second, third]) await expect.poll(async () => await spentAt(server)).toEqual(spent);
    await second.client.sendMessage(id, say("again"));
    await expect.poll(() => owner.model.requests.length, waiting).toBe(2);
    await third.client.sendMessage(id, say("and again"));
    await third.waitForStatus(id, "error");
    expect(owner.model.requests).toHaveLength(2);
  });

  test("9.5: the files of a conversation are those of its machine, whichever server is asked, and work goes on there", async () => {
    const turns = [{ text: "Yes." }];
    await using three = await openThree({ script: { turns, loop: true } });
    const [owner, second] = three.servers;
    await using far = await startTestServer({
      script: { turns, loop: true },
      config: { database: three.database, masterSecret, machineUsers: [] },
    });
    const key = { "X-Session-API-Key": far.key };
    const { id } = await owner.createConversation({ text: "go" });
    await owner.waitForStatus(id, "finished");
    const folder = owner.workspaceDir;
    await writeFile(join(folder, "seen.txt"), "by all");
    const files = `/api/conversations/${id}/files?path=${encodeURIComponent(folder)}`;
    const upload = `/api/conversations/${id}/file/upload?path=${encodeURIComponent(join(folder, "new.txt"))}`;
    for (const server of [owner, second, far]) {
      expect(await server.call("GET", files)).toMatchObject({ status: 200 });
      const form = new FormData();
      form.set("file", new Blob([server.url]), "new.txt");
      const reply = await fetch(`${server.url}${upload}`, { method: "POST", headers: key, body: form });
      expect([reply.status, await reply.json()]).toEqual([
        200,
        { success: true, file_size: server.url.length },
      ]);
      expect(await readFile(join(folder, "new.txt"), "utf8")).toBe(server.url);
      const page = await fetch(`${server.url}/api/conversations/${id}/workspace/seen.txt`, { headers: key });
      expect([page.status, await page.text()]).toEqual([200, "by all"]);
    }
    // No node has it loaded, and its directory is only on the machine of the first server.
    const { id: idle } = await owner.createConversation({
      workspace: { kind: "LocalWorkspace", working_dir: "only-there" },
    });
    await far.client.sendMessage(idle, say("go"));
    await far.waitForStatus(idle, "finished");
    expect(far.model.requests).toEqual([]);
  });

  type Three = AsyncDisposable & {
    readonly database: { readonly url: string; readonly nodeAddress: null };
  } & { readonly servers: readonly [TestServer, TestServer, TestServer] };

  test("P66: an automation's run that is ordered at one server interrupts the earlier one at another, once for each request", async () => {
    await using three = await openThree({
      script: { turns: [command("hold"), { text: "Done." }], loop: true },
    });
    const [first, second, third] = three.servers;
    const model = { llm_model: "openai/scripted", llm_base_url: `${first.model.url}/v1`, llm_api_key: "k" };
    expect((await first.call("POST", "/api/settings", model)).status).toBe(200);
    const created = await first.call("POST", "/api/automations", {
      name: "one at a time",
      trigger: { kind: "cron", expression: "0 0 1 1 *" },
      prompt: "Work.",
      conversation: { working_dir: first.workspaceDir },
      overlap: { mode: "replace" },
    });
    const { id } = created.json as { id: string };
    const order = async (server: TestServer, request: string): Promise<void> => {
      const { status, text } = await server.call("POST", `/api/automations/${id}/run`, {
        request_id: request,
      });
      expect(status, text).toBe(201);
    };
    const states = async (): Promise<string[]> => {
      const { json } = await third.call("GET", `/api/automations/${id}/runs`);
      return (json as { items: { state: string }[] }).items.map(({ state }) => state);
    };
    await order(first, "a");
    await expect.poll(() => first.quickTools.started, waiting).toEqual(["hold"]);
    await expect.poll(states, waiting).toEqual(["started"]);
    await Promise.all([order(second, "b"), order(third, "b")]);
    await expect.poll(states, waiting).toEqual(["started", "replaced"]);
    const { items } = (await third.call("GET", `/api/automations/${id}/runs`)).json as {
      items: { conversation_id: string }[];
    };
    await third.waitForStatus(items[1]!.conversation_id, "paused", waiting.timeout);
    const began = three.servers.flatMap(({ quickTools }) => quickTools.started);
    expect(began.length).toBeLessThanOrEqual(2);
    for (const { quickTools } of three.servers) quickTools.release();
    await expect.poll(states, waiting).toEqual(["finished", "replaced"]);
  });

  async function openThree(options: TestServerOptions): Promise<Three> {
    await using scope = new AsyncDisposableStack();
    const url = await postgres.createDatabase();
    const database = { url, nodeAddress: null };
    const start = async (more: TestServerOptions["config"] = {}): Promise<TestServer> =>
      scope.use(
        await startTestServer({ ...options, config: { database, masterSecret, ...options.config, ...more } }),
      );
    const first = await start();
    // All of them can reach the directory of new conversations.
    const shared = { workspaceRoot: first.workspaceDir };
    const servers = [first, await start(shared), await start(shared)] as const;
    const owned = scope.move();
    return { servers, database, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  }
});
