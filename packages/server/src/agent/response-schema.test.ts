import { expect, test } from "vitest";
import { startTestServer } from "../testing/start-server.ts";
import { responseSchemaFaults } from "./response-schema.ts";

const schema = {
  type: "object",
  title: "Outcome",
  properties: {
    status: { $ref: "#/$defs/Status" },
    files: { type: "array", items: { type: "string" } },
  },
  required: ["status"],
  $defs: { Status: { type: "string", enum: ["success", "failed"] } },
};

const finish = (args: Record<string, unknown>) => ({ tool_calls: [{ name: "finish", arguments: args }] });

test("client 5: the fields of a response schema are part of finish, are checked, and stay in the call", async () => {
  await using server = await startTestServer({
    script: {
      turns: [
        finish({ message: "Done." }),
        finish({ message: "Done.", status: "success", files: '["a.ts"]', summary: "Ends the work" }),
      ],
    },
  });
  const { agent } = server.startRequest();
  const tools = [{ name: "FinishTool", params: { response_schema: schema } }];
  const request = { agent: { ...agent, tools, include_default_tools: ["ThinkTool"] } };
  const id = await server.runTo("finished", "go", request);
  const offered = (server.model.requests[0]!.body["tools"] as { function: Record<string, unknown> }[]).map(
    (tool) => tool.function,
  );
  expect(offered.find(({ name }) => name === "finish")).toMatchObject({
    parameters: {
      properties: {
        message: { type: "string" },
        status: { type: "string", enum: ["success", "failed"] },
        files: { type: "array", items: { type: "string" } },
      },
      required: ["message", "status"],
    },
  });
  const events = (await server.events(id)) as unknown as Record<string, unknown>[];
  const errors = events.filter(({ kind }) => kind === "AgentErrorEvent").map(({ error }) => error);
  expect(errors).toEqual([expect.stringContaining("status: Add this field")]);
  const last = events.findLast(({ kind }) => kind === "ActionEvent") as {
    action: object;
    summary: string;
    tool_call: { arguments: string };
  };
  expect(last.action).toEqual({ kind: "FinishAction", message: "Done." });
  expect(last.summary).toBe("Ends the work");
  expect(JSON.parse(last.tool_call.arguments)).toMatchObject({ status: "success" });
  expect(events.find(({ kind }) => kind === "ObservationEvent")).toMatchObject({
    observation: { kind: "FinishObservation", is_error: false },
  });
});

test.each([
  ["FinishTool", { type: "array" }, "of the type object"],
  ["FinishTool", { type: "object", properties: {} }, "named properties"],
  ["finish", { ...schema, anyOf: [] }, "cannot have anyOf"],
  ["finish", { ...schema, additionalProperties: true }, "additionalProperties"],
  ["finish", { ...schema, required: ["other"] }, "among its properties: other"],
  ["finish", { type: "object", properties: { message: {} } }, "taken by the tool itself: message"],
  ["finish", { type: "object", properties: { summary: {} } }, "taken by the tool itself: summary"],
  ["browser_tool_set", schema, "no set of tools"],
  ["nothing_like_it", schema, "server's own tools"],
])("client 5: a response schema of %s that cannot be used is refused: %j", (name, response, words) => {
  const faults = responseSchemaFaults({
    tools: [{ name: "think" }, { name, params: { response_schema: response } }],
  });
  expect(faults).toEqual([{ index: 1, reason: expect.stringContaining(words) as string }]);
});

test("client 5: a refusal names its field, and a schema of another tool works as well", async () => {
  await using server = await startTestServer();
  const request = server.startRequest();
  const create = (params: object) => {
    const tools = [{ name: "terminal", params }];
    return server.call("POST", "/api/conversations", { ...request, agent: { ...request.agent, tools } });
  };
  const refused = await create({ response_schema: { type: "string" } });
  expect(refused.status).toBe(422);
  expect(refused.json).toMatchObject({
    detail: [{ loc: ["body", "agent", "tools", 0, "params", "response_schema"] }],
  });
  expect((await create({ response_schema: schema })).status).toBe(201);
});
