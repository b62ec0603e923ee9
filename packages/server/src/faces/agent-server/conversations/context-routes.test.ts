import type { EventContext } from "@convoke/protocol";
import { expect, test } from "vitest";
import { startTestServer } from "../../../testing/start-server.ts";
import { until } from "../../../testing/until.ts";

const script = {
  turns: [{ tool_calls: [{ name: "terminal", arguments: { command: "one" } }] }, { text: "All done." }],
};

test("the context of an event is the request that led to it, with the share of each source", async () => {
  await using server = await startTestServer({ script });
  const id = await server.runTo("finished", "Do one thing.");
  const events = await server.events(id);
  const context = async (kind: string, source = "agent") => {
    const event = events.find((item) => item.kind === kind && item.source === source)!;
    const reply = await server.call("GET", `/api/conversations/${id}/events/${event.id}/context`);
    return { event, status: reply.status, body: reply.json as EventContext };
  };

  const action = await context("ActionEvent");
  expect(action).toMatchObject({ status: 200, body: { is_exact: true, is_counted: true } });
  expect(action.body.request_event_id).toBe(action.event.id);
  expect(action.body.messages.map((message) => message["role"])).toEqual(["system", "user"]);
  expect(action.body.tools.map((tool) => tool["name"])).toContain("terminal");
  const sources = action.body.shares.map(({ source }) => source);
  expect(sources.toSorted()).toEqual(["system_prompt", "tools", "user"]);
  const [prompt, task] = ["SystemPromptEvent", "MessageEvent"].map(
    (kind) => events.find((event) => event.kind === kind)!.id,
  );
  expect(action.body.messages.map((message) => message["event_ids"])).toEqual([[prompt], [task]]);
  expect(action.body.shares.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);

  const agentMessage = await context("MessageEvent");
  expect(agentMessage.body.messages.map((message) => message["role"])).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
  ]);
  const made = ["ActionEvent", "ObservationEvent"].map(
    (kind) => events.find((event) => event.kind === kind)!.id,
  );
  expect(agentMessage.body.messages.slice(2).map((message) => message["event_ids"])).toEqual(
    made.map((id) => [id]),
  );
  const { messages, tokens } = agentMessage.body;
  expect(messages.reduce((sum, message) => sum + Number(message["tokens"]), 0)).toBeLessThan(tokens);
  expect(agentMessage.body).toMatchObject({
    cost: expect.any(Number),
    completion_tokens: expect.any(Number),
  });
  expect(agentMessage.body.shares.map(({ source }) => source)).toContain("tool_results");
  // What a model read is told by the first request that had it.
  const observation = await context("ObservationEvent", "environment");
  expect(observation.body.request_event_id).toBe(agentMessage.event.id);
});

test("the context of an event shows what a model thought, without what only its provider can read", async () => {
  const thinking = { reasoning: "Let me see.", signature: "SIGNED==", redacted_thinking: "SEALED==" };
  const turns = [{ ...script.turns[0], ...thinking }, { text: "All done." }];
  await using server = await startTestServer({ script: { turns } });
  const { agent } = server.startRequest();
  const llm = { model: "anthropic/claude-sonnet-4-5", base_url: server.model.url, api_key: "k" };
  const id = await server.runTo("finished", "Go.", { agent: { ...agent, llm } });
  const agentMessage = (await server.events(id)).findLast(({ source }) => source === "agent")!;
  const { status, text } = await server.call(
    "GET",
    `/api/conversations/${id}/events/${agentMessage.id}/context`,
  );
  expect(status).toBe(200);
  expect(text).toContain("Let me see.");
  expect(text).not.toMatch(/SIGNED|SEALED/u);
  expect(server.model.requests[1]!.text).toMatch(/SIGNED[^]*SEALED/u);
});

test("an event that no model has read yet has no context, and an unknown one is missing", async () => {
  await using server = await startTestServer({ script });
  const { id } = await server.createConversation();
  await server.client.sendMessage(id, { content: [{ type: "text", text: "later" }], run: false });
  const [first] = await server.events(id);
  const unread = await server.call("GET", `/api/conversations/${id}/events/${first!.id}/context`);
  expect(unread).toMatchObject({ status: 409, json: { code: "not_read_yet" } });
  const unknown = await server.call("GET", `/api/conversations/${id}/events/${id}/context`);
  expect(unknown).toMatchObject({ status: 404, json: { code: "event_not_found" } });
});

test("P62: a conversation that requests a title gets one beside its run, as a ledger entry of its own", async () => {
  const titled = {
    turns: [{ match: { last_user_contains: "<message>" }, text: '"Count the sheep."' }, { text: "Counted." }],
  };
  await using server = await startTestServer({ script: titled });
  const id = await server.runTo("finished", "Please count the sheep.", { autotitle: true });
  await until(async () => (await server.client.getConversation(id)).title === "Count the sheep");
  const info = await server.client.getConversation(id);
  expect(Object.keys(info.stats?.usage_to_metrics ?? {}).toSorted()).toEqual(["default", "title"]);
});

test("P62: without a model's title the beginning of the message is used, and a hanging title call delays nothing", async () => {
  const failing = {
    turns: [
      { match: { last_user_contains: "sheep" }, text: "Counted." },
      { match: { last_user_contains: "goats" }, text: "Counted." },
    ],
  };
  const withTitleTurn = (turn: object) => ({
    turns: [{ match: { last_user_contains: "<message>" }, ...turn }, ...failing.turns],
  });
  await using server = await startTestServer({ script: withTitleTurn({ error: { status: 400 } }) });
  const id = await server.runTo("finished", `Count ${"all ".repeat(20)} sheep.`, { autotitle: true });
  const beginning = `Count ${"all ".repeat(10)}a...`;
  await until(async () => (await server.client.getConversation(id)).title === beginning);
  await using hanging = await startTestServer({ script: withTitleTurn({ hang: true }) });
  const other = await hanging.runTo("finished", "Count the goats.", { autotitle: true });
  expect((await hanging.client.getConversation(other)).title).toBe("Count the goats.");
});

test("an unnamed conversation gets the beginning of its first message as title, also when its first answer fails", async () => {
  await using server = await startTestServer({ script: { turns: [{ error: { status: 400 } }], loop: true } });
  const titleOf = async (id: string) => (await server.client.getConversation(id)).title ?? null;
  const run = async (text: string, fields: object = {}) => server.runTo("error", text, fields);
  const plain = await run("  Count the\n\u001b[31msheep\u001b[0m, please.");
  expect(await titleOf(plain)).toBe("Count the sheep, please.");
  expect(await titleOf(await run("Count the goats.", { title: "Goats" }))).toBe("Goats");
  expect(await titleOf(await run("Count the goats.", { autotitle: false }))).toBeNull();
  expect(await titleOf(await run("Count the goats.", { autotitle: true }))).toBe("Count the goats.");
  const secrets = { KEY: { kind: "StaticSecret", value: "canary-secret-77" } };
  expect(await titleOf(await run("Use canary-secret-77 now.", { secrets }))).toBe("Use <secret-hidden> now.");
  const { id } = await server.createConversation();
  expect(await titleOf(id)).toBeNull();
  const later = { role: "user" as const, content: [{ type: "text" as const, text: "Later." }], run: false };
  await server.client.sendMessage(id, later);
  expect(await titleOf(id)).toBe("Later.");
  await server.client.updateConversation(id, { title: "Mine" });
  await server.client.sendMessage(id, later);
  expect(await titleOf(id)).toBe("Mine");
});

test("generate_title answers with a title and sets none; without a message there is nothing to name", async () => {
  const naming = {
    turns: [
      { match: { last_user_contains: "<message>" }, text: "A very long name for this" },
      { text: "Hi." },
    ],
  };
  await using server = await startTestServer({ script: naming });
  const { id: empty } = await server.createConversation();
  const nothing = await server.call("POST", `/api/conversations/${empty}/generate_title`, {});
  expect(nothing).toMatchObject({ status: 409, json: { code: "nothing_to_title" } });
  const id = await server.runTo("finished", "Hello.");
  const reply = await server.call("POST", `/api/conversations/${id}/generate_title`, { max_length: 10 });
  expect(reply).toMatchObject({ status: 200, json: { title: "A very..." } });
  expect((await server.client.getConversation(id)).title).toBe("Hello.");
});
