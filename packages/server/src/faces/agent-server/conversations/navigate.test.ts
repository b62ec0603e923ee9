import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

const always = { confirmation_policy: { kind: "AlwaysConfirm" } } as const;

async function navigate(server: TestServer, id: string, eventId: string | null) {
  return await server.call("POST", `/api/conversations/${id}/navigate`, { event_id: eventId });
}

async function say(
  server: TestServer,
  id: string,
  text: string,
  status: "finished" | "waiting_for_confirmation" = "finished",
) {
  await server.client.sendMessage(id, { content: [{ type: "text", text }], run: true });
  await server.waitForStatus(id, status);
}

/** What the last request showed of the user and the model, one word each. */
function lastRequest(server: TestServer): string[] {
  const { messages } = server.model.requests.at(-1)!.body as {
    messages: { role: string; content: unknown }[];
  };
  return messages.flatMap(({ role, content }) => {
    const words = /\b(one|two|three|four|five|answer-\w+)\b/.exec(JSON.stringify(content));
    return role === "system" || words === null ? [] : [words[0]];
  });
}

function messageWith(log: readonly Event[], text: string): string {
  const found = log.find(
    (event) => event.kind === "MessageEvent" && JSON.stringify(event.llm_message).includes(text),
  );
  return found!.id!;
}

const talk = {
  turns: ["one", "two", "three", "four", "five"].map((word) => ({
    match: { last_user_contains: word },
    text: `answer-${word}`,
  })),
};

test("W27, P4: a navigation is one event; the model reads only what led to the target, also back in a left branch and after a restart", async () => {
  await using server = await startTestServer({ script: talk });
  const id = await server.runTo("finished", "one");
  expect(await server.client.getConversation(id)).not.toHaveProperty("leaf_event_id");
  await say(server, id, "two");
  const before = await server.eventTexts(id);
  const log = await server.events(id);
  const target = messageWith(log, "answer-one");
  const moved = await navigate(server, id, target);
  expect(moved.status, moved.text).toBe(200);
  expect(moved.json).toMatchObject({ id, leaf_event_id: target, execution_status: "idle" });
  const added = (await server.events(id)).slice(before.length);
  expect(added).toMatchObject([
    { kind: "ConversationStateUpdateEvent", key: "execution_status", value: "idle" },
    { kind: "ConversationStateUpdateEvent", key: "leaf_event_id", value: target },
  ]);
  expect((await server.eventTexts(id)).slice(0, before.length)).toEqual(before);

  await server.restart();
  expect(await server.client.getConversation(id)).toMatchObject({ leaf_event_id: target });
  await say(server, id, "three");
  expect(lastRequest(server)).toEqual(["one", "answer-one", "three"]);

  await navigate(server, id, messageWith(log, "answer-two"));
  await say(server, id, "four");
  expect(lastRequest(server)).toEqual(["one", "answer-one", "two", "answer-two", "four"]);
  const leaf = messageWith(await server.events(id), "answer-four");
  expect(await server.client.getConversation(id)).toMatchObject({ leaf_event_id: leaf });

  expect((await navigate(server, id, null)).json).toMatchObject({ leaf_event_id: null });
  await say(server, id, "five");
  expect(lastRequest(server)).toEqual(["five"]);
  const prompts = (await server.events(id)).filter(({ kind }) => kind === "SystemPromptEvent");
  expect(prompts).toHaveLength(2);
});

test("a state update stands for the event before it, an unknown event is 404, and an unanswered message is answered again", async () => {
  await using server = await startTestServer({ script: talk });
  const id = await server.runTo("finished", "one");
  const log = await server.events(id);
  const question = messageWith(log, "one");
  const update = log[log.findIndex((event) => event.id === question) + 1]!;
  expect(update.kind).toBe("ConversationStateUpdateEvent");
  expect((await navigate(server, id, update.id!)).json).toMatchObject({ leaf_event_id: question });
  const unknown = await navigate(server, id, "11111111-1111-4111-8111-111111111111");
  expect(unknown).toMatchObject({ status: 404, json: { code: "event_not_found" } });
  // A slip in the field's name must not go to the beginning, which is where no field at all goes.
  const path = `/api/conversations/${id}/navigate`;
  const typo = await server.call("POST", path, { eventid: update.id });
  expect(typo).toMatchObject({ status: 422, json: { detail: [{ loc: ["body", "eventid"] }] } });
  await server.client.run(id);
  await server.waitForStatus(id, "finished");
  expect(lastRequest(server)).toEqual(["one"]);
  expect(server.model.requests).toHaveLength(2);
  const context = await server.call(
    "GET",
    `/api/conversations/${id}/events/${messageWith(log, "answer-one")}/context`,
  );
  expect(context.json).toMatchObject({ is_exact: true });
});

test("P6, W2: calls that wait on a left branch are not pending and do not run; after returning they ask again, and nothing runs twice", async () => {
  const shell = { name: "terminal", arguments: { command: "a" } };
  const turns = [
    { match: { last_user_contains: "one" }, tool_calls: [shell] },
    { match: { last_user_contains: "two" }, text: "answer-two" },
    { text: "answer-three" },
  ];
  await using server = await startTestServer({ script: { turns } });
  const id = await server.runTo("waiting_for_confirmation", "one", always);
  const log = await server.events(id);
  const action = log.find(({ kind }) => kind === "ActionEvent")!.id!;
  const pending = async (): Promise<unknown[]> => {
    const { json } = await server.call("GET", `/api/conversations/${id}/approvals`);
    return (json as { items: unknown[] }).items;
  };
  const accept = async () =>
    await server.call("POST", `/api/conversations/${id}/approvals`, {
      answers: [{ action_id: action, accept: true }],
    });

  await navigate(server, id, messageWith(log, "one"));
  expect(await pending()).toEqual([]);
  expect((await accept()).status).toBe(409);
  await server.restart();
  await say(server, id, "two");
  expect(server.quickTools.started).toEqual([]);
  expect(lastRequest(server)).toEqual(["one", "two"]);

  await navigate(server, id, action);
  expect(await pending()).toHaveLength(1);
  await server.client.run(id);
  await server.waitForStatus(id, "waiting_for_confirmation");
  expect(server.quickTools.started).toEqual([]);
  expect((await accept()).status).toBe(200);
  await server.waitForStatus(id, "finished");
  expect(server.quickTools.started).toEqual(["a"]);

  await navigate(server, id, action);
  expect(await pending()).toEqual([]);
  await server.client.run(id);
  await server.waitForStatus(id, "finished");
  expect(server.quickTools.started).toEqual(["a"]);
});

test("while a run is in progress a navigation is refused and changes nothing", async () => {
  await using server = await startTestServer({ script: { turns: [{ delay_ms: 60_000, text: "late" }] } });
  const { id } = await server.createConversation();
  await server.client.sendMessage(id, { content: [{ type: "text", text: "one" }], run: true });
  await server.waitForStatus(id, "running");
  const refused = await navigate(server, id, null);
  expect(refused).toMatchObject({ status: 409, json: { code: "already_running" } });
  await server.client.interrupt(id);
  await server.waitForStatus(id, "paused");
  expect((await navigate(server, id, null)).status).toBe(200);
});

test("a fork after a navigation goes on from the same event, and one at an event of a left branch from that", async () => {
  await using server = await startTestServer({ script: talk });
  const id = await server.runTo("finished", "one");
  await say(server, id, "two");
  const log = await server.events(id);
  await navigate(server, id, messageWith(log, "answer-one"));
  await say(server, id, "three");
  const fork = async (body: object): Promise<string> =>
    ((await server.call("POST", `/api/conversations/${id}/fork`, body)).json as { id: string }).id;
  await say(server, await fork({}), "four");
  expect(lastRequest(server)).toEqual(["one", "answer-one", "three", "answer-three", "four"]);
  await say(server, await fork({ from_event_id: messageWith(log, "answer-two") }), "five");
  expect(lastRequest(server)).toEqual(["one", "answer-one", "two", "answer-two", "five"]);
});
