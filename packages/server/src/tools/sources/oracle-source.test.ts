import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";

const question = { question: "Which of the two?", context: "A is fast, B is safe." };
const call = { tool_calls: [{ name: "ask_oracle", arguments: question }] };

async function runWithOracle(server: TestServer): Promise<Record<string, unknown>[]> {
  const { agent } = server.startRequest();
  const tools = [{ name: "ask_oracle", params: {} }];
  const id = await server.runTo("finished", "go", { agent: { ...agent, tools } });
  const events = (await server.events(id)) as unknown as Record<string, unknown>[];
  expect(events.filter(({ key }) => key === "warning")).toEqual([]);
  return events;
}

test("client 4: ask_oracle asks the stored model of this name, with the question and its context alone", async () => {
  await using server = await startTestServer({
    script: {
      turns: [
        { match: { last_user_contains: "Which of the two?" }, text: "  Take B.  " },
        { match: { last_user_contains: "go" }, ...call },
        { text: "Done." },
      ],
    },
  });
  const { llm } = server.startRequest().agent;
  expect((await server.call("POST", "/api/profiles/oracle", { llm })).status).toBe(201);
  const events = await runWithOracle(server);
  expect(events.find(({ kind }) => kind === "ObservationEvent")).toMatchObject({
    tool_name: "ask_oracle",
    observation: { kind: "AskOracleObservation", is_error: false, content: [{ text: "Take B." }] },
  });
  const asked = server.model.requests[1]!.body as { messages: { content: unknown }[]; tools?: unknown[] };
  expect(asked.messages).toHaveLength(2);
  expect(JSON.stringify(asked.messages[1])).toContain("A is fast, B is safe.");
  expect(asked.tools ?? []).toEqual([]);
  const stats = events.findLast(({ key }) => key === "stats") as { value: { usage_to_metrics: object } };
  expect(Object.keys(stats.value.usage_to_metrics)).toContain("oracle");
});

test("client 4: without a stored oracle the agent is told, and goes on", async () => {
  await using server = await startTestServer({ script: { turns: [call, { text: "Done." }] } });
  const events = await runWithOracle(server);
  expect(events.find(({ kind }) => kind === "ObservationEvent")).toMatchObject({
    observation: { kind: "AskOracleObservation", is_error: true },
  });
  expect(JSON.stringify(events)).toContain('There is no model profile named \\"oracle\\"');
});

test("client 6: the suffix of user messages is read behind every one of them, and by nobody else's", async () => {
  await using server = await startTestServer({
    script: { turns: [{ text: "One." }, { text: "Two." }], select: "in_order" },
  });
  const { agent } = server.startRequest();
  const context = { skills: [], user_message_suffix: " Answer in Dutch. " };
  const id = await server.runTo("finished", "first", { agent: { ...agent, agent_context: context } });
  await server.client.sendMessage(id, { content: [{ type: "text", text: "second" }], run: true });
  await server.waitForStatus(id, "finished");
  const events = (await server.events(id)) as unknown as Record<string, unknown>[];
  const messages = events.filter(({ kind }) => kind === "MessageEvent");
  expect(messages.map(({ source, extended_content: more }) => [source, more])).toEqual([
    ["user", [expect.objectContaining({ text: "Answer in Dutch." })]],
    ["agent", []],
    ["user", [expect.objectContaining({ text: "Answer in Dutch." })]],
    ["agent", []],
  ]);
  const body = JSON.stringify(server.model.requests[1]!.body);
  expect(body.split("Answer in Dutch.")).toHaveLength(3);
});
