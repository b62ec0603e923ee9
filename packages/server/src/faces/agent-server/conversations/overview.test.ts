import type { Glance } from "@convoke/protocol";
import type { OverviewItem } from "@convoke/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { TestSocket } from "../../../testing/test-socket.ts";
import { until } from "../../../testing/until.ts";

const plan = {
  name: "task_tracker",
  arguments: {
    command: "plan",
    task_list: [
      { title: "Look", notes: "", status: "done" },
      { title: "Write", notes: "", status: "in_progress" },
    ],
  },
};

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    script: {
      turns: [
        { tool_calls: [{ name: "terminal", arguments: { command: "make" } }] },
        { text: "All is  well." },
      ],
      loop: true,
    },
  });
});
afterAll(() => server[Symbol.asyncDispose]());

const text = (content: string) => ({ content: [{ type: "text" as const, text: content }] });
const summariesOf = async (query: string): Promise<Glance[]> =>
  ((await server.call("GET", `/api/glances?${query}`)).json as { items: Glance[] }).items;

/** Follows the overview; what is told last of each conversation. */
function watchOverview(limit?: number) {
  const items: OverviewItem[] = [];
  const summaries = new Map<string, Glance>();
  const stop = new AbortController();
  const done = (async () => {
    const options = { signal: stop.signal, ...(limit === undefined ? {} : { limit }) };
    for await (const item of server.client.overview(options)) {
      items.push(item);
      if (item.type === "summary") summaries.set(item.summary.id, item.summary);
      if (item.type === "gone") summaries.delete(item.id);
    }
  })();
  return {
    items,
    summaries,
    listed: () => until(() => items.some(({ type }) => type === "listed")),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await done;
    },
  };
}

test("S5: a conversation's summary has its state in one row", async () => {
  const id = await server.runTo("waiting_for_confirmation", "  make\n it ", {
    confirmation_policy: { kind: "AlwaysConfirm" },
    tags: { team: "search" },
  });
  await server.client.sendMessage(id, text("and more"));
  const info = await server.client.getConversation(id);
  const [summary] = await summariesOf("status=waiting_for_confirmation");
  expect(summary).toEqual({
    kind: "Glance",
    id,
    title: "make it",
    execution_status: "waiting_for_confirmation",
    created_at: info.created_at,
    updated_at: info.updated_at,
    version: await server.client.countEvents(id),
    last_event_id: (await server.client.tail(id)).lastEventId,
    waiting: 1,
    deadline: null,
    queued: 1,
    cost: info.metrics?.accumulated_cost,
    context_tokens: info.metrics?.accumulated_token_usage?.per_turn_token,
    context_window: info.metrics?.accumulated_token_usage?.context_window,
    model: (info.agent as { llm: { model: string } }).llm.model,
    retry_until: null,
    goal: null,
    plan: null,
    last_text: "and more",
    tags: { team: "search" },
    working_dir: server.workspaceDir,
    sandbox_id: null,
    parent_conversation_id: null,
    is_pinned: false,
    is_archived: false,
    read_event_id: null,
  });
  await server.client.respondToConfirmation(id, true);
  await server.waitForStatus(id, "finished");
  expect((await summariesOf("tag=team:search"))[0]).toMatchObject({
    id,
    waiting: 0,
    last_text: "All is well.",
  });
});

test("S5: the plan of the newest task list is in it, over restarts", async () => {
  await using own = await startTestServer({
    script: { turns: [{ tool_calls: [plan] }, { text: "Done." }] },
    tools: (await import("@convoke/tool-host")).defaultTools(),
  });
  const id = await own.runTo("finished", "plan it", {
    agent: { ...own.startRequest().agent, tools: [{ name: "task_tracker" }] },
  });
  const read = async (): Promise<unknown> =>
    ((await own.call("GET", "/api/glances")).json as { items: Glance[] }).items.find((item) => item.id === id)
      ?.plan;
  expect(await read()).toEqual({ done: 1, total: 2, current: "Write" });
  await own.restart();
  expect(await read()).toEqual({ done: 1, total: 2, current: "Write" });
});

test("S6: marks are stored, listed and filtered by", async () => {
  const { id } = await server.createConversation();
  const eventId = (await server.client.sendMessage(id, text("hi")))!;
  const marks = { is_pinned: true, is_archived: true, read_event_id: eventId };
  await server.client.call("PUT /api/conversations/{conversation_id}/marks", {
    params: { conversation_id: id },
    body: marks,
  });
  expect(await summariesOf("archived=true&pinned=true")).toMatchObject([{ id, ...marks }]);
  expect((await summariesOf("archived=false")).some((summary) => summary.id === id)).toBe(false);
  const wrong = await server.call("PUT", `/api/conversations/${id}/marks`, { is_pined: true });
  expect(wrong.status).toBe(422);
});

test("S3: one call returns the initial state of the page", async () => {
  const start = await server.client.call("GET /api/start");
  expect(start).toMatchObject({
    user_id: "local",
    server: { version: expect.any(String), started_at: expect.any(String) },
    can: { machine: true, sandboxes: false, demo: false, keys: true },
    models: { profiles: [], active: null },
    needs_you: 0,
  });
  expect(start.conversations).toEqual(
    await server.client.call("GET /api/glances", { query: { limit: 50, archived: false } }),
  );
});

test("S5: pages lead on, and a slip in a filter is named", async () => {
  const first = await server.client.call("GET /api/glances", { query: { limit: 1 } });
  const rest = await server.client.call("GET /api/glances", {
    query: { limit: 1, page_id: first.next_page_id! },
  });
  expect(rest.items[0]!.id).toBe(first.next_page_id);
  for (const query of ["parent=some", "updated_at__gte=yesterday", "status=some", "limit=0"])
    expect((await server.call("GET", `/api/glances?${query}`)).status).toBe(422);
});

test("S8: the outline has each turn with what happened in it, page by page, the newest first", async () => {
  const id = await server.runTo("finished", "  first\n task ");
  await server.client.sendMessage(id, { ...text("second"), run: true });
  await server.waitForStatus(id, "finished");
  const events = await server.events(id);
  const users = events.filter(({ kind, source }) => kind === "MessageEvent" && source === "user");
  const begins = users.map(({ id: userId }) => events.findIndex((event) => event.id === userId));
  const expected = users.map((user, index) => {
    const turn = events.slice(begins[index], begins[index + 1]);
    const count = (kind: string): number => turn.filter((event) => event.kind === kind).length;
    return {
      event_id: user.id,
      at: user.timestamp,
      text: ["first task", "second"][index],
      last_event_id: turn.at(-1)!.id,
      answer: "All is well.",
      actions: count("ActionEvent"),
      failed: 0,
      rejected: 0,
      errors: 0,
      condensations: 0,
    };
  });
  const path = "GET /api/conversations/{conversation_id}/outline" as const;
  const params = { conversation_id: id };
  const whole = await server.client.call(path, { params });
  expect(whole.items).toMatchObject(expected.toReversed());
  expect(whole.items.every(({ duration_ms: ms }) => ms >= 0)).toBe(true);
  const first = await server.client.call(path, { params, query: { limit: 1 } });
  const second = await server.client.call(path, {
    params,
    query: { limit: 1, page_id: first.next_page_id! },
  });
  expect([...first.items, ...second.items]).toEqual(whole.items);
  expect(second.next_page_id).toBe(null);
});

test("S4: an overview sends existing conversations, then changes and deletions", async () => {
  const { id: before } = await server.createConversation();
  await using overview = watchOverview(2);
  await overview.listed();
  const listed = overview.items.find(({ type }) => type === "listed");
  expect(listed).toMatchObject({ ids: [before, expect.any(String)] });
  const id = await server.runTo("finished", "work");
  await until(() => overview.summaries.get(id)?.execution_status === "finished");
  const events = await server.client.countEvents(id);
  // Joined: far fewer than the events, and the last one is the newest.
  expect(
    overview.items.filter((item) => item.type === "summary" && item.summary.id === id).length,
  ).toBeLessThan(events);
  await until(() => overview.summaries.get(id)?.version === events);
  await server.client.call("PUT /api/conversations/{conversation_id}/marks", {
    params: { conversation_id: id },
    body: { is_pinned: true },
  });
  await until(() => overview.summaries.get(id)?.is_pinned === true);
  // An archived one is sent with its mark, so that lists remove it.
  await server.client.call("PUT /api/conversations/{conversation_id}/marks", {
    params: { conversation_id: id },
    body: { is_archived: true },
  });
  await until(() => overview.summaries.get(id)?.is_archived === true);
  await server.client.deleteConversation(id);
  await until(() => !overview.summaries.has(id));
  expect(overview.items.at(-1)).toEqual({ type: "gone", id });
});

test("S4: a stranger gets nothing, and a wrong limit is refused", async () => {
  const address = `${server.url}/sockets/overview`;
  using wrong = new TestSocket(`${address}?session_api_key=wrong`);
  expect(await wrong.opened).toBe(403);
  using many = new TestSocket(`${address}?limit=1000&session_api_key=${server.key}`);
  expect(await many.opened).toBe(403);
  using silent = new TestSocket(address);
  await silent.opened;
  silent.send({ type: "auth", session_api_key: "wrong" });
  expect((await silent.closed).code).toBe(4001);
  expect(silent.frames).toEqual([]);
});
