import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

const parameters = {
  type: "object",
  properties: {
    page: { type: "string", enum: ["files", "changes"], minLength: 2 },
    at: { anyOf: [{ $ref: "#/$defs/place" }, { type: "null" }] },
    note: { type: "string" },
  },
  required: ["page"],
  additionalProperties: false,
  $defs: { place: { type: "object", properties: { line: { type: "integer", minimum: 1 } } } },
};
const spec = { name: "show_page", description: "Shows a page to the person.", parameters };

const call = (id: string, args: Record<string, unknown>) => ({
  tool_calls: [{ id, name: "show_page", arguments: args }],
});

type Found = Record<string, unknown> & { readonly kind: string };

async function eventsOf(server: TestServer, id: string): Promise<Found[]> {
  return await server.events(id);
}

test("a tool of the client: the model sees its schema word for word, the call becomes an action, and it is answered at once", async () => {
  await using server = await startTestServer({
    script: {
      turns: [call("a", { page: "files", at: null, note: null, summary: "Show it" }), { text: "Shown." }],
    },
  });
  const id = await server.runTo("finished", "Show me", { client_tools: [spec] });
  expect((await server.client.getConversation(id)).client_tools).toEqual([spec]);

  const offered = (server.model.requests[0]!.body["tools"] as { function: { name: string } }[]).map(
    (tool) => tool.function,
  );
  expect(offered.find(({ name }) => name === "show_page")).toMatchObject({
    description: spec.description,
    parameters: {
      ...parameters,
      properties: { summary: { type: "string" }, ...parameters.properties },
    },
  });
  const events = await eventsOf(server, id);
  const prompt = events[0] as { tools?: unknown[] };
  expect(prompt.tools).toContainEqual(
    expect.objectContaining({
      kind: "ClientTool",
      title: "show_page",
      client_tool_name: "show_page",
      action_type: "ClientAction_show_page",
      observation_type: "ClientToolObservation",
      input_schema: parameters,
    }),
  );
  const action = events.find(({ kind }) => kind === "ActionEvent")!;
  // Null is a value where the schema takes it, and nothing where it does not.
  expect(action["action"]).toEqual({ kind: "ClientAction_show_page", page: "files", at: null });
  expect(action["summary"]).toBe("Show it");
  const answers = events.filter(({ kind }) => kind === "ObservationEvent");
  expect(answers).toMatchObject([
    { action_id: action["id"], observation: { kind: "ClientToolObservation", is_error: false } },
  ]);
});

test("wrong and unknown arguments are reported to the model; a restart keeps the tool", async () => {
  const loose = {
    name: "ring",
    description: "Rings.",
    parameters: { type: "object", properties: { times: { type: "integer" } } },
  };
  const ring = (id: string, args: Record<string, unknown>) => ({
    tool_calls: [{ id, name: "ring", arguments: args }],
  });
  await using server = await startTestServer({
    script: {
      turns: [
        call("a", { page: "elsewhere" }),
        ring("b", { times: 1, loudly: true }),
        { text: "No." },
        ring("c", { times: 2 }),
        { text: "Yes." },
      ],
    },
  });
  const id = await server.runTo("finished", "Show me", { client_tools: [spec, loose] });
  const errors = (await eventsOf(server, id)).filter(({ kind }) => kind === "AgentErrorEvent");
  expect(errors.map(({ tool_name: name }) => name)).toEqual(["show_page", "ring"]);
  await server.restart();
  await server.client.sendMessage(id, { content: [{ type: "text", text: "Again" }], run: true });
  await server.waitForStatus(id, "finished");
  const events = await eventsOf(server, id);
  expect(events.filter(({ kind }) => kind === "ObservationEvent")).toHaveLength(1);
  const fork = await server.call("POST", `/api/conversations/${id}/fork`, {});
  expect(fork.json).toMatchObject({ client_tools: [spec, loose] });
});

test("a call of a client's tool waits for approval like any other, and a rejected one is answered once", async () => {
  await using server = await startTestServer({
    script: { turns: [call("a", { page: "files" }), call("b", { page: "changes" }), { text: "Done." }] },
  });
  const start = { client_tools: [spec], confirmation_policy: { kind: "AlwaysConfirm" as const } };
  const id = await server.runTo("waiting_for_confirmation", "Show me", start);
  await server.restart();
  await server.call("POST", `/api/conversations/${id}/events/respond_to_confirmation`, { accept: false });
  await server.call("POST", `/api/conversations/${id}/run`);
  await server.waitForStatus(id, "waiting_for_confirmation");
  await server.call("POST", `/api/conversations/${id}/events/respond_to_confirmation`, { accept: true });
  await server.waitForStatus(id, "finished");
  const answers = (await eventsOf(server, id)).filter(({ kind }) => /Observation/.test(kind));
  expect(answers.map(({ kind, tool_call_id: callId }) => [kind, callId])).toEqual([
    ["UserRejectObservation", "a"],
    ["ObservationEvent", "b"],
  ]);
});

test("P55: tools that cannot be used are refused, each by its field", async () => {
  await using server = await startTestServer();
  const reply = await server.call("POST", "/api/conversations", {
    ...server.startRequest(),
    client_tools: [
      spec,
      spec,
      { ...spec, name: "terminal" },
      { ...spec, name: "has space" },
      { ...spec, name: "task" },
      { ...spec, name: "list", parameters: { type: "array" } },
      { ...spec, name: "untyped", parameters: {} },
      { ...spec, name: "plain", parameters: undefined },
    ],
  });
  expect(reply.status).toBe(422);
  const { detail } = reply.json as { detail: { loc: unknown[] }[] };
  expect(detail.map(({ loc }) => loc.slice(2))).toEqual([
    [1, "name"],
    [2, "name"],
    [3, "name"],
    [4, "name"],
    [5, "parameters"],
    [6, "parameters"],
  ]);
});
