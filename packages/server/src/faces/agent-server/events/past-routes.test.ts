import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

let server: TestServer;
const script = {
  turns: [
    { tool_calls: [{ name: "terminal", arguments: { command: "one" } }] },
    { text: "All done." },
    { text: "Again." },
  ],
};
beforeAll(async () => {
  server = await startTestServer({ script });
});
afterAll(() => server[Symbol.asyncDispose]());

const path = "GET /api/conversations/{conversation_id}/at" as const;

test("S18: the state of a conversation at any event is returned, by the event or its position", async () => {
  const id = await server.runTo("waiting_for_confirmation", "Do one thing.", {
    confirmation_policy: { kind: "AlwaysConfirm" },
  });
  const params = { conversation_id: id };
  const asked = await server.client.call(path, { params });
  const before = await server.events(id);
  expect(asked).toMatchObject({
    event_id: before.at(-1)!.id,
    timestamp: before.at(-1)!.timestamp,
    position: before.length,
    length: before.length,
    conversation: { id, execution_status: "waiting_for_confirmation" },
    queued: [],
  });
  const action = before.find(({ kind }) => kind === "ActionEvent")!;
  expect(asked.open_actions).toMatchObject([
    { action_id: action.id, tool_name: "terminal", is_waiting: true },
  ]);
  await server.client.call("POST /api/conversations/{conversation_id}/run", { params });
  await server.waitForStatus(id, "finished");
  const events = await server.events(id);
  expect(events.length).toBeGreaterThan(before.length);

  // What was then does not change; how long the log is does.
  const again = await server.client.call(path, {
    params,
    query: { event_id: asked.event_id!.toUpperCase() },
  });
  expect(again).toEqual({ ...asked, length: events.length, conversation: expect.anything() });
  expect(again.conversation.execution_status).toBe("waiting_for_confirmation");
  expect(again.conversation.stats).toEqual(asked.conversation.stats);
  const message = events.findIndex(({ kind, source }) => kind === "MessageEvent" && source === "user");
  const first = await server.client.call(path, { params, query: { position: message + 1 } });
  expect(first).toMatchObject({ event_id: events[message]!.id, queued: [events[message]!.id] });
  expect(first.conversation.metrics ?? null).toBeNull();
  const beyond = await server.client.call(path, { params, query: { position: 9_999 } });
  expect(beyond).toMatchObject({ position: events.length, conversation: { execution_status: "finished" } });
});

test("S18: beginnings of turns, failures and rejections are returned by position", async () => {
  const id = await server.runTo("waiting_for_confirmation", "Do one thing.", {
    confirmation_policy: { kind: "AlwaysConfirm" },
  });
  const params = { conversation_id: id };
  await server.client.call("POST /api/conversations/{conversation_id}/events/respond_to_confirmation", {
    params,
    body: { accept: false, reason: "Not now." },
  });
  await server.waitForStatus(id, "idle");
  const events = await server.events(id);
  const places = (isIt: (event: (typeof events)[number]) => boolean): number[] =>
    events.flatMap((event, index) => (isIt(event) ? [index + 1] : []));
  const rejected = places(({ kind }) => kind === "UserRejectObservation");
  expect(rejected).toHaveLength(1);
  expect(await server.client.call("GET /api/conversations/{conversation_id}/landmarks", { params })).toEqual({
    length: events.length,
    turns: places(({ kind, source }) => kind === "MessageEvent" && source === "user"),
    errors: [],
    rejected,
    condensations: [],
    branches: [],
    tasks: [],
    spent: places((event) => event.kind === "ConversationStateUpdateEvent" && event.key === "stats").map(
      (position) => expect.objectContaining({ position, cost: expect.any(Number) }),
    ),
  });
  const other = await server.call("GET", `/api/conversations/${crypto.randomUUID()}/landmarks`);
  expect(other.status).toBe(404);
});

test("S18: an empty log has no event, and one that it does not have is missing", async () => {
  const { id } = await server.createConversation();
  const params = { conversation_id: id };
  const { length } = await server.events(id);
  expect(await server.client.call(path, { params })).toMatchObject({ position: length, length });
  const wrong = async (query: string) => await server.call("GET", `/api/conversations/${id}/at?${query}`);
  expect(await wrong(`event_id=${id}`)).toMatchObject({ status: 404, json: { code: "event_not_found" } });
  expect((await wrong("position=0")).status).toBe(422);
  const other = await server.call("GET", `/api/conversations/${crypto.randomUUID()}/at`);
  expect(other.status).toBe(404);
});
