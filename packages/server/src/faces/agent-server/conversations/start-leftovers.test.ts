import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Event } from "@convoke/protocol";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

const poem = "A poem, please.";
const verse = "Write of the sea.";
const judge = "Judge for the poet.";
const words = "You are strict.";
const script = {
  turns: [
    { match: { last_user_contains: judge }, text: '{"decision":"deny","reason":"It does not rhyme."}' },
    { match: { last_user_contains: words }, text: '{"decision":"allow"}' },
    {
      match: { last_user_contains: poem },
      tool_calls: [{ name: "task", arguments: { prompt: verse, subagent_type: "poet" } }],
    },
    { text: "Done." },
  ],
  loop: true,
};

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ script });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

function warnings(events: readonly Event[]): unknown[] {
  return events.flatMap((event) =>
    event.kind === "ConversationStateUpdateEvent" && event.key === "warning" ? [event.value] : [],
  );
}

function withAgent(more: object): object {
  return { agent: { ...server.startRequest().agent, ...more } };
}

test("P55, clients 1: a critic behind an API is accepted, returned without its key, and reported", async () => {
  const critic = { kind: "APIBasedCritic", api_key: "key-of-the-critic", model_name: "theirs" };
  const id = await server.runTo("finished", "Hello", withAgent({ critic }));
  const info = await server.call("GET", `/api/conversations/${id}`);
  expect(info.json).toMatchObject({ agent: { critic: { ...critic, api_key: null } } });
  expect(info.text).not.toContain("key-of-the-critic");
  expect(warnings(await server.events(id))).toMatchObject([{ code: "critic_unavailable" }]);
});

test("P55, clients 1: values that no prompt uses are accepted, returned, and reported", async () => {
  const kwargs = { cli_mode: true, colour: "red" };
  const id = await server.runTo("finished", "Hello", withAgent({ system_prompt_kwargs: kwargs }));
  expect((await server.client.getConversation(id)).agent).toMatchObject({ system_prompt_kwargs: kwargs });
  expect(warnings(await server.events(id))).toMatchObject([
    { code: "prompt_values_unused", values: ["colour"] },
  ]);
});

test("clients 1: a conversation below another one in the same folder; any other parent is refused by its field", async () => {
  const { id: parent_conversation_id } = await server.createConversation();
  const child = await server.createConversation({ parent_conversation_id });
  await server.restart();
  expect(await server.client.getConversation(child.id)).toMatchObject({ parent_conversation_id });

  const conversation_id = randomUUID();
  const elsewhere = { kind: "LocalWorkspace", working_dir: `${server.workspaceDir}/below` };
  for (const more of [
    { parent_conversation_id: randomUUID() },
    { conversation_id, parent_conversation_id: conversation_id },
    { parent_conversation_id, workspace: elsewhere },
  ]) {
    const reply = await server.call("POST", "/api/conversations", { ...server.startRequest(), ...more });
    expect(reply.status, reply.text).toBe(422);
    expect(reply.json).toMatchObject({ detail: [{ loc: ["body", "parent_conversation_id"] }] });
  }
});

test("clients 1: a hook of type agent asks the model with its words; with tools it is refused by that field", async () => {
  const hook = { type: "agent", system_prompt: words };
  const hook_config = { stop: [{ hooks: [hook] }] } as never;
  const id = await server.runTo("finished", "Hello", { hook_config, tags: { by: "newer" } });
  const events = (await server.events(id)) as readonly { readonly kind: string }[];
  expect(events.find(({ kind }) => kind === "HookExecutionEvent")).toMatchObject({
    hook_event_type: "Stop",
    success: true,
    blocked: false,
  });
  expect(await server.client.getConversation(id)).toMatchObject({
    hook_config: { stop: [{ hooks: [hook] }] },
  });

  const stopHooks = { stop: [{ hooks: [{ ...hook, tools: ["terminal"] }] }] };
  const body = { ...server.startRequest(), hook_config: stopHooks };
  const refused = await server.call("POST", "/api/conversations", body);
  expect(refused.status, refused.text).toBe(422);
  expect(refused.text).toContain("no tools here");
});

test("clients 1: hooks of a sub-agent guard that sub-agent alone", async () => {
  const hooks = { user_prompt_submit: [{ hooks: [{ type: "prompt", prompt: judge }] }] };
  const poet = { name: "poet", description: "Writes verses.", system_prompt: "In verses.", hooks };
  const id = await server.runTo("finished", poem, {
    ...withAgent({ tools: [{ name: "task_tool_set" }] }),
    agent_definitions: [{ ...poet, profile_store_dir: "/theirs" }],
  });
  expect((await server.client.getConversation(id)).agent_definitions).toMatchObject([{ hooks }]);
  const log = await server.events(id);
  expect(warnings(log)).toMatchObject([{ code: "sub_agent_fields_left_out", fields: ["profile_store_dir"] }]);
  const { items } = await server.client.searchConversations();
  const child = items.find(
    (item) => (item as { parent_conversation_id?: string }).parent_conversation_id === id,
  )!;
  expect(JSON.stringify(await server.events(child.id))).toContain("It does not rhyme.");
  expect(server.model.requests.some(({ text }) => text.includes("In verses."))).toBe(false);
});
