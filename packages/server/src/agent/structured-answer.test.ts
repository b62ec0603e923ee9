import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../testing/start-server.ts";
import { TestSocket } from "../testing/test-socket.ts";
import { until } from "../testing/until.ts";

const schema = {
  type: "object",
  properties: { status: { $ref: "#/$defs/Status" }, count: { type: "integer", minimum: 1 } },
  required: ["status"],
  $defs: { Status: { enum: ["passed", "failed"] } },
};
const finish = (args: Record<string, unknown>) => ({ tool_calls: [{ name: "finish", arguments: args }] });
const valid = { status: "passed", count: 2 };

async function stateOf(server: TestServer, id: string) {
  const info = (await server.call("GET", `/api/conversations/${id}`)).json as Record<string, unknown>;
  const final = await server.call("GET", `/api/conversations/${id}/agent_final_response`);
  return { info, final: final.json as Record<string, unknown> };
}

async function say(server: TestServer, id: string, more: object = {}): Promise<void> {
  const content = [{ type: "text", text: "again" }];
  const message = { role: "user", content, run: true, ...more };
  const sent = await server.call("POST", `/api/conversations/${id}/events`, message);
  expect(sent.status, sent.text).toBe(200);
  await server.waitForStatus(id, "finished");
}

function offeredFinish(server: TestServer, request = 0): Record<string, unknown> {
  const tools = server.model.requests[request]!.body["tools"] as { function: Record<string, unknown> }[];
  const found = tools.find((tool) => tool.function["name"] === "finish");
  return found!.function["parameters"] as Record<string, unknown>;
}

async function warnings(server: TestServer, id: string): Promise<unknown[]> {
  return (await server.events(id)).flatMap((event) =>
    event.kind === "ConversationStateUpdateEvent" && event.key === "warning" ? [event.value] : [],
  );
}

test.each([
  ["the conversation", { response_schema: schema }],
  ["the agent", { agent: { response_schema: schema } }],
  ["FinishTool", { agent: { tools: [{ name: "FinishTool", params: { response_schema: schema } }] } }],
])(
  "a valid answer by the schema of %s is in the state, beside the text and in the observation",
  async (_, given) => {
    await using server = await startTestServer({
      script: { turns: [finish({ message: "All pass.", ...valid })] },
    });
    const { agent } = server.startRequest();
    const more = "agent" in given ? { agent: { ...agent, ...given.agent } } : given;
    const id = await server.runTo("finished", "go", more);
    expect(offeredFinish(server)).toMatchObject({
      properties: { message: {}, status: { enum: ["passed", "failed"] }, count: { type: "integer" } },
      required: ["message", "status"],
    });
    const { info, final } = await stateOf(server, id);
    expect(info["structured_output"]).toEqual(valid);
    expect(final).toEqual({ response: "All pass.", structured_output: valid });
    const observation = (await server.events(id)).find(({ kind }) => kind === "ObservationEvent");
    expect(observation).toMatchObject({
      observation: {
        kind: "FinishObservation",
        content: [{ text: "All pass." }, { text: JSON.stringify(valid) }],
      },
    });
    await server.restart();
    expect((await stateOf(server, id)).final).toEqual(final);
  },
);

test("an answer that is not valid goes back with its errors once, and the next one counts", async () => {
  await using server = await startTestServer({
    script: { turns: [finish({ message: "x", status: "maybe" }), finish({ message: "y", ...valid })] },
  });
  const id = await server.runTo("finished", "go", { response_schema: schema });
  const errors = (await server.events(id)).filter(({ kind }) => kind === "AgentErrorEvent");
  expect(errors).toEqual([expect.objectContaining({ error: expect.stringContaining("status: ") as string })]);
  expect((await stateOf(server, id)).final).toEqual({ response: "y", structured_output: valid });
  expect(await warnings(server, id)).toEqual([]);
});

test("after two refusals the run ends as finished with the text and a warning", async () => {
  await using server = await startTestServer({
    script: {
      turns: [
        finish({ message: "First." }),
        finish({ message: "Second.", status: 3 }),
        finish({ message: "Third.", ...valid }),
      ],
    },
  });
  const id = await server.runTo("finished", "go", { response_schema: schema });
  const { info, final } = await stateOf(server, id);
  expect(final).toEqual({ response: "Second." });
  expect(info).not.toHaveProperty("structured_output");
  expect(await warnings(server, id)).toEqual([expect.objectContaining({ code: "response_schema_unmet" })]);
  // The next message has its two attempts again.
  await say(server, id);
  expect((await stateOf(server, id)).final).toEqual({ response: "Third.", structured_output: valid });
});

test("a plain answer is read as JSON, and asked for once more if it is none", async () => {
  await using server = await startTestServer({
    script: {
      turns: [
        { text: "```json\n" + JSON.stringify(valid) + "\n```" },
        { text: "It passes." },
        { text: JSON.stringify({ status: "failed" }) },
        { text: "It passes." },
        { text: "I said it passes." },
      ],
    },
  });
  const id = await server.runTo("finished", "go", { response_schema: schema });
  expect((await stateOf(server, id)).final["structured_output"]).toEqual(valid);
  await say(server, id);
  const sent = JSON.stringify(server.model.requests[2]!.body["messages"]);
  expect(sent).toContain("The answer is no JSON object. End the work with a call of finish");
  expect((await stateOf(server, id)).final["structured_output"]).toEqual({ status: "failed" });
  await say(server, id);
  expect((await stateOf(server, id)).final).toEqual({ response: "I said it passes." });
  expect(await warnings(server, id)).toHaveLength(1);
});

test("the schema of a message counts for its turn, before that of the conversation", async () => {
  const other = { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] };
  await using server = await startTestServer({
    script: {
      turns: [
        finish({ message: "x", colour: "red" }),
        finish({ message: "y", ...valid }),
        finish({ message: "z", colour: "blue" }),
      ],
    },
  });
  const message = {
    role: "user",
    content: [{ type: "text", text: "go" }],
    run: true,
    response_schema: other,
  };
  const request = { ...server.startRequest(), response_schema: schema, initial_message: message };
  const { id } = (await server.call("POST", "/api/conversations", request)).json as { id: string };
  await server.waitForStatus(id, "finished");
  expect((await stateOf(server, id)).info).toMatchObject({
    response_schema: schema,
    structured_output: { colour: "red" },
  });
  await say(server, id);
  expect((await stateOf(server, id)).final["structured_output"]).toEqual(valid);
  await say(server, id, { response_schema: other });
  expect((await stateOf(server, id)).final["structured_output"]).toEqual({ colour: "blue" });
  expect(Object.keys(offeredFinish(server, 1)["properties"] as object)).toContain("status");
  expect(Object.keys(offeredFinish(server, 2)["properties"] as object)).not.toContain("status");
});

test("an answer whose names are taken by finish is one field of it", async () => {
  const taken = {
    type: "object",
    properties: { message: { type: "string" }, summary: { type: "string" } },
    required: ["summary"],
    additionalProperties: true,
  };
  const answer = { message: "m", summary: "s", more: 1 };
  await using server = await startTestServer({
    script: { turns: [finish({ message: "Done.", response: answer, summary: "Ends" })] },
  });
  const id = await server.runTo("finished", "go", { response_schema: taken });
  expect(offeredFinish(server)).toMatchObject({
    properties: { response: { properties: taken.properties } },
    required: ["message", "response"],
  });
  expect((await stateOf(server, id)).final).toEqual({ response: "Done.", structured_output: answer });
});

test("an agent without finish is told the schema when its words are not valid", async () => {
  await using server = await startTestServer({
    script: { turns: [{ text: "Fine." }, { text: JSON.stringify(valid) }] },
  });
  const { agent } = server.startRequest();
  const bare = { response_schema: schema, agent: { ...agent, tools: [], include_default_tools: [] } };
  const id = await server.runTo("finished", "go", bare);
  expect(JSON.stringify(server.model.requests[1]!.body["messages"])).toContain(
    "JSON Schema, and nothing else",
  );
  expect((await stateOf(server, id)).final["structured_output"]).toEqual(valid);
});

test("the schema of a message and its refusals outlive a restart in the midst of the turn", async () => {
  await using server = await startTestServer({
    script: {
      select: "in_order",
      turns: [finish({ message: "x" }), { text: "Never.", delay_ms: 60_000 }, finish({ message: "Second." })],
    },
  });
  const message = {
    role: "user",
    content: [{ type: "text", text: "go" }],
    run: true,
    response_schema: schema,
  };
  const request = { ...server.startRequest(), initial_message: message };
  const { id } = (await server.call("POST", "/api/conversations", request)).json as { id: string };
  await until(() => server.model.requests.length === 2);
  await server.restart();
  await server.waitForStatus(id, "finished");
  expect(Object.keys(offeredFinish(server, 2)["properties"] as object)).toContain("status");
  expect((await stateOf(server, id)).final).toEqual({ response: "Second." });
  expect(await warnings(server, id)).toEqual([expect.objectContaining({ code: "response_schema_unmet" })]);
});

test("a model of Anthropic is offered the same fields of finish", async () => {
  await using server = await startTestServer({
    script: { turns: [finish({ message: "Done.", ...valid })] },
  });
  const { agent } = server.startRequest();
  const llm = { ...agent.llm, model: "anthropic/claude-sonnet-4-5", base_url: server.model.url };
  const id = await server.runTo("finished", "go", { response_schema: schema, agent: { ...agent, llm } });
  const tools = server.model.requests[0]!.body["tools"] as Record<string, unknown>[];
  expect(tools.find(({ name }) => name === "finish")).toMatchObject({
    input_schema: { properties: { status: { enum: ["passed", "failed"] } }, required: ["message", "status"] },
  });
  expect((await stateOf(server, id)).final["structured_output"]).toEqual(valid);
});

test("a secret in an answer is masked wherever the answer is", async () => {
  const secret = "s3cret-value-1234";
  await using server = await startTestServer({
    script: { turns: [finish({ message: "Done.", status: "passed", kind_of: secret })] },
  });
  const open = { ...schema, properties: { ...schema.properties, kind_of: { type: "string" } } };
  const secrets = { TOKEN: { kind: "StaticSecret" as const, value: secret } };
  const id = await server.runTo("finished", "go", { response_schema: open, secrets });
  const { info, final } = await stateOf(server, id);
  expect(final["structured_output"]).toMatchObject({ status: "passed" });
  expect(JSON.stringify([info, final, await server.events(id)])).not.toContain(secret);
});

test("a fork has the structured output of its source, and a navigation that of its branch", async () => {
  await using server = await startTestServer({
    script: { turns: [finish({ message: "a", ...valid }), finish({ message: "b", status: "failed" })] },
  });
  const id = await server.runTo("finished", "go", { response_schema: schema });
  const end = (await server.events(id)).findLast(({ kind }) => kind === "ObservationEvent")!;
  await say(server, id);
  expect((await stateOf(server, id)).info["structured_output"]).toEqual({ status: "failed" });
  const fork = await server.call("POST", `/api/conversations/${id}/fork`, {});
  expect(fork.json).toMatchObject({ response_schema: schema, structured_output: { status: "failed" } });
  await server.call("POST", `/api/conversations/${id}/navigate`, { event_id: end.id });
  expect((await stateOf(server, id)).info["structured_output"]).toEqual(valid);
});

test("a message on a socket has a schema as well, and one that cannot be used is refused there", async () => {
  await using server = await startTestServer({ script: { turns: [finish({ message: "x", ...valid })] } });
  const { id } = await server.createConversation();
  using socket = new TestSocket(`${server.url}/sockets/events/${id}?session_api_key=${server.key}`);
  await socket.opened;
  socket.send({ content: "go", response_schema: { type: "array" } });
  await socket.until((events) => events.some(({ kind }) => kind === "ServerErrorEvent"));
  socket.send({ content: "go", response_schema: schema });
  await server.waitForStatus(id, "finished");
  expect((await stateOf(server, id)).final["structured_output"]).toEqual(valid);
});

test("a schema that cannot be used is a 422 that names its field", async () => {
  await using server = await startTestServer();
  const request = server.startRequest();
  const { id } = await server.createConversation();
  const array = { type: "array" };
  const far = { type: "object", properties: { a: { $ref: "https://example.com/a" } } };
  const message = { role: "user", content: [{ type: "text", text: "x" }], response_schema: array };
  const refused: [string, object, (string | number)[]][] = [
    ["/api/conversations", { ...request, response_schema: array }, ["body", "response_schema"]],
    [
      "/api/conversations",
      { ...request, agent: { ...request.agent, response_schema: far } },
      ["body", "agent", "response_schema"],
    ],
    [
      "/api/conversations",
      { ...request, initial_message: message },
      ["body", "initial_message", "response_schema"],
    ],
    [`/api/conversations/${id}/events`, message, ["body", "response_schema"]],
  ];
  for (const [path, body, loc] of refused) {
    const answer = await server.call("POST", path, body);
    expect(answer.status).toBe(422);
    expect(answer.json).toMatchObject({ detail: [{ loc }] });
  }
});
