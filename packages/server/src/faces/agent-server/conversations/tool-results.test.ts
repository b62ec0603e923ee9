import { serveClientTools } from "@convoke/client";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { until } from "../../../testing/until.ts";

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const weather = {
  name: "weather",
  description: "Reports the weather.",
  parameters,
  waits_for_result: true,
} as const;

const call = (...ids: string[]) => ({
  tool_calls: ids.map((id) => ({ id, name: "weather", arguments: { city: id } })),
});

type Pending = {
  action_id: string;
  tool_call_id: string;
  tool_name: string;
  deadline: string;
  action: object;
};

async function pending(server: TestServer, id: string): Promise<Pending[]> {
  const { json } = await server.call("GET", `/api/conversations/${id}/tool_results`);
  return (json as { items: Pending[] }).items;
}

async function answer(server: TestServer, id: string, ...results: object[]) {
  const reply = await server.call("POST", `/api/conversations/${id}/tool_results`, { results });
  return { status: reply.status, code: (reply.json as { code?: string }).code };
}

/** A conversation in which the given calls wait. */
async function begin(server: TestServer, count: number, start: object = {}): Promise<string> {
  const { id } = await server.createConversation({ client_tools: [weather], ...start, text: "go" });
  await until(async () => (await pending(server, id)).length === count);
  return id;
}

async function answers(server: TestServer, id: string): Promise<unknown[]> {
  return (await server.events(id)).flatMap((event): unknown[] => {
    if (event.kind === "AgentErrorEvent") return [event.error];
    if (event.kind !== "ObservationEvent") return [];
    const [part] = event.observation.content ?? [];
    return [[event.tool_call_id, part && "text" in part ? part.text : part, event.observation.is_error]];
  });
}

test("client tools get results back over REST, and the run goes on: the model reads them, in the order of its calls", async () => {
  await using server = await startTestServer({
    script: { turns: [call("kiel", "bonn"), { text: "Rain." }] },
  });
  const id = await begin(server, 2);
  const info = await server.client.getConversation(id);
  expect(info.execution_status).toBe("running");
  const [first, second] = await pending(server, id);
  expect(first).toMatchObject({
    tool_call_id: "kiel",
    tool_name: "weather",
    action: { kind: "ClientAction_weather", city: "kiel" },
  });
  const { action: _, ...shown } = first!;
  expect(info.pending_tool_calls![0]).toEqual(shown);
  expect(Date.parse(first!.deadline) - Date.now()).toBeGreaterThan(200_000);

  const image = { type: "image", image_urls: ["data:image/png;base64,iVBORw0KGgo="] };
  const parts = [{ type: "text", text: "sun" }, image];
  expect(await answer(server, id, { tool_call_id: second!.action_id, content: parts })).toMatchObject({
    status: 200,
  });
  expect((await pending(server, id)).map(({ tool_call_id: callId }) => callId)).toEqual(["kiel"]);
  expect(server.model.requests).toHaveLength(1);
  await answer(server, id, { tool_call_id: "kiel", content: "no network", is_error: true });
  await server.waitForStatus(id, "finished");
  expect(await answers(server, id)).toEqual([
    ["bonn", "sun", false],
    ["kiel", "no network", true],
  ]);
  const { text } = server.model.requests.at(-1)!;
  expect(text.indexOf("no network")).toBeGreaterThan(0);
  expect(text.indexOf("no network")).toBeLessThan(text.indexOf("sun"));
  expect((await server.client.getConversation(id)).pending_tool_calls).toBeUndefined();
});

test("client tools: a result counts exactly once; another one, and one of an unknown call, is refused by name", async () => {
  const turns = [
    call("kiel"),
    { tool_calls: [{ name: "terminal", arguments: { command: "hold" } }] },
    { text: "ok" },
  ];
  await using server = await startTestServer({ script: { turns } });
  const id = await begin(server, 1);
  const result = { tool_call_id: "kiel", content: "rain" };
  expect(await answer(server, id, result, { ...result, tool_call_id: "nobody" })).toEqual({
    status: 404,
    code: "tool_call_not_found",
  });
  // All of them, or none.
  expect(await pending(server, id)).toHaveLength(1);
  const both = await Promise.all([answer(server, id, result), answer(server, id, result)]);
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  await until(() => server.quickTools.started.length === 1);
  expect(await answer(server, id, { ...result, content: "sun" })).toEqual({
    status: 409,
    code: "tool_call_answered",
  });
  const open = (await server.events(id)).findLast(({ kind }) => kind === "ActionEvent")!;
  expect(await answer(server, id, { ...result, tool_call_id: open.id })).toEqual({
    status: 409,
    code: "tool_call_not_pending",
  });
  expect((await answer(server, id, { tool_call_id: "kiel" })).status).toBe(422);
  expect((await answer(server, id, { ...result, content: "x".repeat(1024 * 1024 + 1) })).status).toBe(422);
  server.quickTools.release();
  await server.waitForStatus(id, "finished");
  expect((await answers(server, id))[0]).toEqual(["kiel", "rain", false]);
  expect((await server.events(id)).filter(({ kind }) => kind === "ObservationEvent")).toHaveLength(2);
});

test("client tools have a deadline: past it the model reads an error that names the tool, and the run goes on", async () => {
  await using server = await startTestServer({ script: { turns: [call("kiel"), { text: "Without." }] } });
  const start = { client_tools: [{ ...weather, timeout_seconds: 0.05 }] };
  const id = await server.runTo("finished", "go", start);
  const [late] = await answers(server, id);
  expect(late).toEqual(["kiel", expect.stringMatching(/no result of weather until 20.*deadline/), true]);
  expect(server.model.requests.at(-1)!.text).toContain("sent no result of weather");
  expect(await answer(server, id, { tool_call_id: "kiel", content: "rain" })).toEqual({
    status: 409,
    code: "tool_call_answered",
  });
});

test("client tools: a pending call waits on over a restart with the same deadline, and nobody is asked twice", async () => {
  await using server = await startTestServer({ script: { turns: [call("kiel"), { text: "Rain." }] } });
  const id = await begin(server, 1);
  const before = await pending(server, id);
  await server.restart();
  await until(async () => (await server.client.getConversation(id)).execution_status === "running");
  expect(await pending(server, id)).toEqual(before);
  expect((await answer(server, id, { tool_call_id: "kiel", content: "rain" })).status).toBe(200);
  await server.waitForStatus(id, "finished");
  const handedOver = (await server.events(id)).filter(
    (event) => "key" in event && event.key === "pending_tool_call",
  );
  expect(handedOver).toMatchObject([
    { value: { action_id: before[0]!.action_id, deadline: before[0]!.deadline } },
  ]);
});

test("client tools: an approval comes before the call is handed over; pause, interrupt and stop work while it waits", async () => {
  const turns = [call("kiel"), { text: "one" }, call("bonn"), { text: "two" }, { text: "three" }];
  await using server = await startTestServer({ script: { turns, select: "in_order" } });
  const { id } = await server.createConversation({
    client_tools: [weather],
    confirmation_policy: { kind: "AlwaysConfirm" },
    text: "go",
  });
  await server.waitForStatus(id, "waiting_for_confirmation");
  expect(await pending(server, id)).toEqual([]);
  const early = await answer(server, id, { tool_call_id: "kiel", content: "rain" });
  expect(early).toEqual({ status: 409, code: "tool_call_not_pending" });
  await server.client.respondToConfirmation(id, true);
  await until(async () => (await pending(server, id)).length === 1);
  await server.client.pause(id);
  expect(await answer(server, id, { tool_call_id: "kiel", content: "rain" })).toMatchObject({ status: 200 });
  expect((await server.client.getConversation(id)).execution_status).toBe("paused");
  await server.client.run(id);
  await server.waitForStatus(id, "finished");

  await server.call("POST", `/api/conversations/${id}/confirmation_policy`, {
    policy: { kind: "NeverConfirm" },
  });
  await server.client.sendMessage(id, { content: [{ type: "text", text: "more" }], run: true });
  await until(async () => (await pending(server, id)).length === 1);
  await server.client.interrupt(id);
  expect(await pending(server, id)).toEqual([]);
  expect((await answer(server, id, { tool_call_id: "bonn", content: "sun" })).code).toBe(
    "tool_call_answered",
  );
  await server.client.run(id);
  await server.waitForStatus(id, "finished");
  expect((await answers(server, id)).at(-1)).toMatch(/^Interrupted/);
});

test("client tools get results back over a socket, and what cannot be used is reported to that socket", async () => {
  await using server = await startTestServer({ script: { turns: [call("kiel"), { text: "Rain." }] } });
  const id = await begin(server, 1);
  const socket = new WebSocket(
    `${server.url.replace("http", "ws")}/sockets/events/${id}?session_api_key=${server.key}`,
  );
  const frames: Record<string, unknown>[] = [];
  socket.addEventListener("message", ({ data }) =>
    frames.push(JSON.parse(String(data)) as Record<string, unknown>),
  );
  await until(() => frames.length > 0);
  expect((frames[0]!["value"] as { pending_tool_calls: object[] }).pending_tool_calls).toHaveLength(1);
  const frame = { type: "tool_results", results: [{ tool_call_id: "nobody", content: "rain" }] };
  socket.send(JSON.stringify(frame));
  socket.send(JSON.stringify({ ...frame, results: [{ tool_call_id: "kiel" }] }));
  await until(() => frames.filter(({ kind }) => kind === "ServerErrorEvent").length === 2);
  const codes = frames.filter(({ kind }) => kind === "ServerErrorEvent").map(({ code }) => code);
  expect(new Set(codes)).toEqual(new Set(["invalid_tool_results", "tool_call_not_found"]));
  socket.send(JSON.stringify({ ...frame, results: [{ tool_call_id: "kiel", content: "rain" }] }));
  await server.waitForStatus(id, "finished");
  socket.close();
  expect(await answers(server, id)).toEqual([["kiel", "rain", false]]);
});

test("client tools that ask for no result are answered at once, as before; a timeout without a wait is refused", async () => {
  await using server = await startTestServer({ script: { turns: [call("kiel"), { text: "Shown." }] } });
  const { waits_for_result: _, ...plain } = weather;
  const id = await server.runTo("finished", "go", { client_tools: [plain] });
  expect((await answers(server, id))[0]).toMatchObject(["kiel", expect.stringContaining("handed"), false]);
  const reply = await server.call("POST", "/api/conversations", {
    ...server.startRequest(),
    client_tools: [
      { ...plain, timeout_seconds: 5 },
      { ...weather, name: "b", timeout_seconds: 90_000 },
    ],
  });
  expect(reply.status).toBe(422);
  expect(JSON.stringify(reply.json)).toContain("timeout_seconds");
});

test("client tools: @convoke/client answers them, those that wait already and those that come, over a restart of the server", async () => {
  await using server = await startTestServer({
    script: { turns: [call("kiel"), call("bonn", "jena"), { text: "Rain." }] },
  });
  const id = await begin(server, 1);
  const leaving = new AbortController();
  const asked: unknown[] = [];
  const restarted = Promise.withResolvers<void>();
  const serving = serveClientTools(server.client, id, {
    signal: leaving.signal,
    tools: {
      weather: async ({ city }) => {
        asked.push(city);
        if (city === "kiel") await server.restart().then(restarted.resolve);
        if (city === "jena") throw new Error("no network");
        return `rain in ${String(city)}`;
      },
    },
  });
  await restarted.promise;
  await server.waitForStatus(id, "finished");
  leaving.abort();
  await serving;
  expect(asked).toEqual(["kiel", "bonn", "jena"]);
  const stored = await answers(server, id);
  expect(stored).toHaveLength(3);
  expect(stored).toEqual(
    expect.arrayContaining([
      ["bonn", "rain in bonn", false],
      ["jena", "no network", true],
      ["kiel", "rain in kiel", false],
    ]),
  );
});
