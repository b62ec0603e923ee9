import { expect, test } from "vitest";
import { startTestServer } from "../testing/start-server.ts";

const shell = (command: string) => ({ name: "terminal", arguments: { command } });
const always = { confirmation_policy: { kind: "AlwaysConfirm" } } as const;

test("L23.1, L23.3: a condensation while calls wait is none of their approvals; after a restart they wait all the same", async () => {
  const script = {
    turns: [
      { text: "Ready." },
      { tool_calls: [shell("a"), shell("b")] },
      { match: { last_tool_output_contains: "b" }, text: "Done." },
    ],
  };
  await using server = await startTestServer({ script });
  const id = await server.runTo("finished", "Get ready.", always);
  await server.client.sendMessage(id, { content: [{ type: "text", text: "Now." }], run: true });
  await server.waitForStatus(id, "waiting_for_confirmation");
  const condensed = await server.call("POST", `/api/conversations/${id}/condense`);
  expect([200, 409]).toContain(condensed.status);
  await server.restart();
  const info = await server.client.getConversation(id);
  expect(info.execution_status).toBe("waiting_for_confirmation");
  expect(server.quickTools.started).toEqual([]);
  await server.client.respondToConfirmation(id, true);
  await server.waitForStatus(id, "finished");
  expect(server.quickTools.started).toEqual(["a", "b"]);
});

test("L23.39: a log has one system prompt, and every request begins with it, over restarts and changes", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "One." }, { text: "Two." }] } });
  const id = await server.runTo("finished", "first");
  await server.call("PATCH", `/api/conversations/${id}`, { title: "Named", tags: { a: "b" } });
  await server.restart();
  await server.client.sendMessage(id, { content: [{ type: "text", text: "second" }], run: true });
  await server.waitForStatus(id, "finished");
  const log = await server.events(id);
  expect(log.filter(({ kind }) => kind === "SystemPromptEvent")).toHaveLength(1);
  const roles = server.model.requests.map(({ body }) =>
    (body as { messages: { role: string }[] }).messages.map(({ role }) => role),
  );
  expect(roles).toHaveLength(2);
  for (const [first, ...rest] of roles) {
    expect(first).toBe("system");
    expect(rest).not.toContain("system");
  }
});

test("L23.30: token ids are kept for calls that wait for the user too, and odd ones end no run", async () => {
  const chunk = (token_ids: unknown, delta: object, reason: string) => ({
    headers: { "content-type": "text/event-stream" },
    body: `data: ${JSON.stringify({
      id: "r",
      prompt_token_ids: [1, 2],
      choices: [{ index: 0, delta, token_ids, finish_reason: reason }],
    })}\n\ndata: [DONE]\n\n`,
  });
  const call = {
    index: 0,
    id: "c1",
    type: "function",
    function: { name: "terminal", arguments: '{"command":"a"}' },
  };
  const turns = [
    { raw: chunk([3, 4], { tool_calls: [call] }, "tool_calls") },
    { raw: chunk("no list", { content: "Done." }, "stop") },
  ];
  await using server = await startTestServer({ script: { turns } });
  const { id } = await server.createConversation({ ...always, text: "Go." });
  await server.waitForStatus(id, "waiting_for_confirmation");
  const tokens = (await server.events(id)).filter(({ kind }) => kind === "TokenEvent");
  expect(tokens).toMatchObject([{ prompt_token_ids: [1, 2], response_token_ids: [3, 4] }]);
  await server.client.respondToConfirmation(id, true);
  await server.waitForStatus(id, "finished");
});

test("P53: a model that cannot be used ends the run with a sentence, and is no error of the server's log", async () => {
  await using server = await startTestServer();
  const llm = { model: "nonsense", api_key: "k" };
  const id = await server.runTo("error", "Work.", { agent: { kind: "Agent", llm, tools: [] } });
  expect((await server.client.searchEvents(id, { kind: "ConversationErrorEvent" })).items).toMatchObject([
    { code: "validation", detail: expect.stringContaining("provider/model") },
  ]);
  expect(server.log.filter(({ message }) => message === "run failed")).toMatchObject([{ level: "warn" }]);
});

test("L23.37: the model is asked for the risk of its calls only while an analyzer reads it", async () => {
  const turn = { tool_calls: [{ name: "terminal", arguments: { command: "a", security_risk: "LOW" } }] };
  const script = { turns: [turn, { text: "Done." }], loop: true, select: "in_order" } as const;
  await using server = await startTestServer({ script });
  const id = await server.runTo("finished", "Go.");
  const lastTools = () => {
    const body = server.model.requests.at(-1)!.body as {
      tools: { function: { name: string; parameters: { properties: object } } }[];
    };
    return new Map(
      body.tools.map(({ function: tool }) => [tool.name, Object.keys(tool.parameters.properties)]),
    );
  };
  const llm = { kind: "LLMSecurityAnalyzer" };
  const pattern = { kind: "PatternSecurityAnalyzer" };
  for (const [analyzer, isAsked] of [
    [null, false],
    [pattern, false],
    [llm, true],
    [{ kind: "EnsembleSecurityAnalyzer", analyzers: [pattern, llm] }, true],
    [{ kind: "EnsembleSecurityAnalyzer", analyzers: [pattern] }, false],
  ] as const) {
    const path = `/api/conversations/${id}/security_analyzer`;
    expect((await server.call("POST", path, { security_analyzer: analyzer })).status).toBe(200);
    await server.client.sendMessage(id, { content: [{ type: "text", text: "Again." }], run: true });
    await server.waitForStatus(id, "finished");
    const tools = lastTools();
    expect(tools.get("terminal")!.slice(0, 2)).toEqual(
      isAsked ? ["security_risk", "summary"] : ["summary", "command"],
    );
    expect(tools.get("grep")).not.toContain("security_risk");
  }
  // What a model says without being asked breaks nothing.
  expect((await server.events(id)).filter(({ kind }) => kind === "AgentErrorEvent")).toEqual([]);
});
