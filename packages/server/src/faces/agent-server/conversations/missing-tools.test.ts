import { afterAll, beforeAll, expect, test } from "vitest";
import type { Event } from "@convoke/protocol";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    script: { turns: [{ text: "Done." }], loop: true },
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const newer = [
  "browser_tool_set",
  "planning_file_editor",
  "read_file",
  "write_file",
  "edit",
  "list_directory",
  "a_tool_of_next_year",
];

function withTools(tools: readonly object[], more: object = {}) {
  const { agent } = server.startRequest();
  return { agent: { ...agent, tools: [...tools], ...more } } as object;
}

function warnings(events: readonly Event[]): unknown[] {
  return events.flatMap((event) =>
    event.kind === "ConversationStateUpdateEvent" && event.key === "warning" ? [event.value] : [],
  );
}

test("the default agent of the SDK starts: tools of newer clients are no tools, told once, and come back as given (P55)", async () => {
  const tools = [
    { name: "terminal", params: {} },
    ...newer.map((name) => ({ name, params: { of: "theirs" } })),
  ];
  const id = await server.runTo("finished", "Hello", withTools(tools));
  expect((await server.client.getConversation(id)).agent.tools).toEqual(tools);

  const events = await server.events(id);
  expect(events.slice(0, 3).map(({ kind }) => kind)).toEqual([
    "SystemPromptEvent",
    "ConversationStateUpdateEvent",
    "MessageEvent",
  ]);
  const [warning, ...others] = warnings(events) as { code: string; detail: string; tools: string[] }[];
  expect(others).toEqual([]);
  expect(warning).toMatchObject({ code: "tools_unavailable", tools: newer });
  for (const name of newer) expect(warning!.detail).toContain(name);

  const asked = server.model.requests.at(-1)!;
  expect(asked.body["tools"]).toHaveLength(3);
  for (const name of ["browser_tool_set", "tools_unavailable"])
    expect(JSON.stringify(asked.body)).not.toContain(name);

  await server.restart();
  await server.client.sendMessage(id, { content: [{ type: "text", text: "Again" }], run: true });
  await server.waitForStatus(id, "finished");
  expect(warnings(await server.events(id))).toHaveLength(1);
});

test("a missing built-in tool is reported; an agent with all its tools gets no warning", async () => {
  expect(warnings(await server.events(await server.runTo("finished", "Hello")))).toEqual([]);
  const start = withTools([], {
    include_default_tools: ["FinishTool", "SwitchLLMTool", "InvokeSkillTool"],
  });
  const reported = warnings(await server.events(await server.runTo("finished", "Hello", start)));
  expect(reported).toMatchObject([{ tools: ["switch_llm"] }]);
});

test("a typo is refused with the intended name", async () => {
  for (const [name, meant] of [
    ["treminal", "terminal"],
    ["terminl", "terminal"],
    ["grepp", null],
    ["gerp", "grep"],
  ] as const) {
    const reply = await server.call("POST", "/api/conversations", {
      ...server.startRequest(),
      ...withTools([{ name }]),
    });
    expect([name, reply.status]).toEqual([name, meant === null ? 201 : 422]);
    if (meant === null) continue;
    expect(reply.json).toMatchObject({ detail: [{ loc: ["body", "agent", "tools"] }] });
    expect(reply.text).toContain(`Did you mean \\"${meant}\\"?`);
  }
});
