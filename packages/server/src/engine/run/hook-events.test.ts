import { eventSchemaByKind, type Event, type HookExecutionEvent } from "@convoke/protocol";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";
import { TestSocket } from "../../testing/test-socket.ts";

const question = "Judge this step.";
const group = [{ matcher: "*", hooks: [{ type: "prompt", prompt: question }] }];
const hook_config = { user_prompt_submit: group, pre_tool_use: group, post_tool_use: group, stop: group };

/** A field that the contract does not have: whoever sends one knows the kinds that came later. */
const newer = { by: "newer" };

const script = {
  turns: [
    { match: { last_user_contains: question }, text: '{"decision":"allow"}' },
    {
      match: { last_user_contains: "work" },
      tool_calls: [{ name: "terminal", arguments: { command: "a" } }],
    },
    { text: "Done." },
  ],
  loop: true,
};

/** The events of hooks in a log, oldest first. */
async function hooksIn(server: TestServer, id: string): Promise<HookExecutionEvent[]> {
  const log = (await server.events(id)) as readonly { readonly kind: string }[];
  return log.filter((event): event is HookExecutionEvent => event.kind === "HookExecutionEvent");
}

async function fork(server: TestServer, id: string, body: object = {}): Promise<string> {
  const reply = await server.call("POST", `/api/conversations/${id}/fork`, body);
  expect(reply.status, reply.text).toBe(201);
  return (reply.json as { id: string }).id;
}

test("L23.40: events of hooks are in forks, on both sides of a navigation, and in exports", async () => {
  await using server = await startTestServer({ script });
  const id = await server.runTo("finished", "work", { hook_config: hook_config as never, tags: newer });
  const hooks = await hooksIn(server, id);
  expect(hooks.map((event) => event.hook_event_type)).toEqual([
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Stop",
  ]);

  expect(await hooksIn(server, await fork(server, id))).toEqual(hooks);
  const upTo = await fork(server, id, { from_event_id: hooks[1]!.id });
  expect(await hooksIn(server, upTo)).toEqual(hooks.slice(0, 2));

  const path = `/api/conversations/${id}/navigate`;
  const moved = await server.call("POST", path, { event_id: hooks[1]!.id });
  expect(moved.json).toMatchObject({ leaf_event_id: hooks[1]!.id });
  await server.client.sendMessage(id, { content: [{ type: "text", text: "another way" }], run: true });
  await server.waitForStatus(id, "finished");
  await server.restart();
  const both = await hooksIn(server, id);
  expect(both.slice(0, hooks.length)).toEqual(hooks);
  expect(both.length).toBeGreaterThan(hooks.length);
  expect(await hooksIn(server, await fork(server, id))).toEqual(both);

  const reply = await fetch(`${server.url}/api/file/download-trajectory/${id}`, {
    headers: { "X-Session-API-Key": server.key },
  });
  expect(reply.status).toBe(200);
  const archive = Buffer.from(await reply.arrayBuffer());
  for (const event of both) expect(archive.includes(`-${event.id}.json`)).toBe(true);
});

test("P57: a client of the contract alone is told of hooks in the contract's kinds, in pages and on sockets", async () => {
  await using server = await startTestServer({ script });
  const id = await server.runTo("finished", "work", { hook_config: hook_config as never });
  using socket = new TestSocket(`${server.url}/sockets/events/${id}?resend_mode=all`, {
    headers: { "x-session-api-key": server.key },
  });
  const events = await server.events(id);
  await socket.until((frames) => frames.length > events.length);
  const shown = events.filter(
    (event) => event.kind === "ConversationStateUpdateEvent" && event.key === "hook_execution",
  );
  expect(shown).toMatchObject(
    ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"].map((type) => ({
      source: "environment",
      value: { hook_event_type: type, success: true },
    })),
  );
  const seen = [...events, ...socket.frames.map((frame) => JSON.parse(frame) as Event)];
  for (const { kind, source } of seen) {
    expect(Object.keys(eventSchemaByKind)).toContain(kind);
    expect(["agent", "user", "environment"]).toContain(source);
  }
});
