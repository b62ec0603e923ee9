import { afterAll, beforeAll, expect, test } from "vitest";
import type { Event } from "@convoke/protocol";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { TestSocket } from "../../../testing/test-socket.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ script: { turns: [{ text: "Done." }], loop: true } });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

function reported(events: readonly Event[]): unknown[] {
  return events.flatMap((event) => {
    if (event.kind !== "ConversationStateUpdateEvent" || event.key !== "warning") return [];
    const { code, fields } = event.value as { code: string; fields: unknown };
    return code === "fields_unused" ? [fields] : [];
  });
}

const message = (text: string, more: object = {}) => ({
  role: "user",
  content: [{ type: "text", text }],
  ...more,
});

test("F5: unused fields are accepted, named in the answer, and reported once in the conversation", async () => {
  const request = server.startRequest();
  const body = {
    ...request,
    agent: { ...request.agent, answer_style: { type: "object" } },
    run_colour: "blue",
    tool_module_qualnames: { terminal: "my.own.terminal" },
    initial_message: message("Hello", { run: true }),
  };
  const created = await server.call("POST", "/api/conversations", body);
  expect(created.status, created.text).toBe(201);
  expect(created.headers.get("warning")).toBe(
    '299 - "These fields change nothing here: agent.answer_style, run_colour, tool_module_qualnames"',
  );
  const { id } = created.json as { id: string };
  const path = `/api/conversations/${id}`;
  for (const text of ["One", "Two"]) {
    const sent = await server.call("POST", `${path}/events`, message(text, { mode: "fast" }));
    expect(sent.status).toBe(200);
    expect(sent.headers.get("warning")).toContain("mode");
  }
  const changed = await server.call("PATCH", path, { title: "A title", colour: "red" });
  expect(changed.headers.get("warning")).toContain("colour");
  expect(reported(await server.events(id))).toEqual([
    ["agent.answer_style", "run_colour", "tool_module_qualnames"],
    ["mode"],
    ["colour"],
  ]);
  await server.restart();
  await server.call("PATCH", path, { title: "Another", colour: "red" });
  expect(reported(await server.events(id))).toHaveLength(3);
  expect((await server.call("PATCH", path, { title: "Plain" })).headers.get("warning")).toBeNull();
});

test("F5: a near miss of a field that exists is refused by its name, and nothing is done", async () => {
  const { id } = await server.createConversation();
  const request = server.startRequest();
  const path = `/api/conversations/${id}`;
  const refused: [string, string, object, string, string][] = [
    ["POST", "/api/conversations", { ...request, max_iteration: 3 }, "max_iteration", "max_iterations"],
    [
      "POST",
      "/api/conversations",
      { ...request, confirmation_polcy: { kind: "AlwaysConfirm" } },
      "confirmation_polcy",
      "confirmation_policy",
    ],
    ["POST", `${path}/events`, message("x", { contents: "y" }), "contents", "content"],
    ["PATCH", path, { titel: "x" }, "titel", "title"],
    ["PATCH", "/api/settings", { agentSettingsDiff: {} }, "agentSettingsDiff", "agent_settings_diff"],
    ["POST", "/api/settings", { llm_modle: "m" }, "llm_modle", "llm_model"],
    ["POST", "/api/v1/settings", { Language: "en" }, "Language", "language"],
    ["POST", "/api/v1/app-conversations", { initial_mesage: {} }, "initial_mesage", "initial_message"],
    ["POST", "/api/bash/execute_bash_command", { command: "true", timout: 3 }, "timout", "timeout"],
    ["POST", `${path}/confirmation_policy`, { polcy: { kind: "NeverConfirm" } }, "polcy", "policy"],
  ];
  for (const [method, address, body, field, meant] of refused) {
    const reply = await server.call(method, address, body);
    expect(reply.status, `${address} ${reply.text}`).toBe(422);
    const { detail } = reply.json as { detail: { loc: string[]; msg: string }[] };
    const named = detail.filter(({ loc }) => loc.join(".") === `body.${field}`);
    expect(named, reply.text).toHaveLength(1);
    expect(named[0]!.msg).toContain(`Did you mean ${meant}?`);
  }
  const deep = { ...request, agent: { ...request.agent, llm: { ...request.agent.llm, temprature: 1 } } };
  expect((await server.call("POST", "/api/conversations", deep)).json).toMatchObject({
    detail: [{ loc: ["body", "agent", "llm", "temprature"] }],
  });
  expect(await server.events(id)).toEqual([]);
});

test("F5: a socket refuses a typo of a field, and logs unused fields; the sender is stored", async () => {
  const { id } = await server.createConversation();
  using socket = new TestSocket(`${server.url}/sockets/events/${id}`, {
    headers: { "x-session-api-key": server.key },
  });
  await socket.opened;
  socket.send(message("Hello", { senders: "poet" }));
  await socket.until((events) => events.some(({ kind }) => kind === "ServerErrorEvent"));
  expect(socket.events.at(-1)).toMatchObject({ code: "invalid_message" });
  expect(JSON.stringify(socket.events.at(-1))).toContain("Did you mean sender?");
  socket.send(message("Hello", { sender: "poet", mode: "fast", run: false }));
  await socket.until((events) => events.some(({ key }) => key === "warning"));
  const events = await server.events(id);
  expect(reported(events)).toEqual([["mode", "run"]]);
  expect(events.find(({ kind, source }) => kind === "MessageEvent" && source === "user")).toMatchObject({
    sender: "poet",
  });
});

test("F5: answers of settings and profiles name the fields that are not stored", async () => {
  const patched = await server.call("PATCH", "/api/settings", {
    colour: 1,
    agent_settings_diff: { llm: { custom_tokenizer: "theirs" } },
  });
  expect(patched.status, patched.text).toBe(200);
  expect(patched.headers.get("warning")).toContain("colour, agent_settings_diff.llm.custom_tokenizer");
  const saved = await server.call("POST", "/api/profiles/mine", { llm: { model: "openai/m", 'fär"be': 1 } });
  expect(saved.status, saved.text).toBe(201);
  expect(saved.headers.get("warning")).toContain("llm.f%C3%A4r%22be");
});
