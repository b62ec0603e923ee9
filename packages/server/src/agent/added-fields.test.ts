import { createValidator } from "@convoke/protocol/validate";
import type { ToolListing } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { createCallReader } from "./tool-call.ts";
import { toModelTool } from "./tool-schema.ts";

const text = { type: "string" };

function mcp(properties: object, required: readonly string[] = []): ToolListing {
  return {
    name: "issue",
    actionKind: "MCPToolAction",
    isReadOnly: false,
    definition: {
      kind: "MCPToolDefinition",
      title: "issue",
      description: "",
      action_type: "MCPToolAction",
      mcp_tool: { name: "issue", inputSchema: {} },
    },
    parameters: { type: "object", properties, required },
  };
}

function client(properties: object): ToolListing {
  return {
    ...mcp(properties),
    actionKind: "ClientAction_issue",
    definition: { kind: "ClientTool", title: "issue", description: "", action_type: "" } as never,
    parameters: { type: "object", properties },
  };
}

const read = (tool: ToolListing, args: object) =>
  createCallReader(
    [tool],
    createValidator(),
  )({ id: "c", name: "issue", arguments: JSON.stringify(args), origin: "completion" });

test("K1: a summary that a tool requires reaches it, and ours has another name", () => {
  const tool = mcp({ summary: text, project: text }, ["summary", "project"]);
  const { properties, required } = toModelTool(tool, true).parameters as {
    properties: Record<string, object>;
    required: string[];
  };
  expect(Object.keys(properties)).toEqual(["security_risk", "call_summary", "summary", "project"]);
  expect(properties["summary"]).toEqual(text);
  expect(required).toEqual(["summary", "project"]);
  const args = { summary: "Fix the login", project: "P" };
  expect(read(tool, { ...args, call_summary: "Opens an issue", security_risk: "LOW" })).toMatchObject({
    ok: true,
    action: { kind: "MCPToolAction", data: args },
    summary: "Opens an issue",
    predictedRisk: "LOW",
  });
});

test("K1: without ours, what is shown is the whole call and not the tool's own field", () => {
  expect(read(mcp({ key: text, summary: text }), { key: "A-1", summary: "New title" })).toMatchObject({
    action: { kind: "MCPToolAction", data: { key: "A-1", summary: "New title" } },
    summary: 'issue: {"key":"A-1","summary":"New title"}',
  });
});

test.each(["security_risk", "security_riks"])("K1: a tool's own %s is no estimate of ours", (name) => {
  const tool = mcp({ [name]: text });
  const { properties } = toModelTool(tool, true).parameters as { properties: object };
  expect(properties).toMatchObject({ [name]: text });
  const result = read(tool, { [name]: "a breach of the contract" });
  expect(result).toMatchObject({
    ok: true,
    action: { kind: "MCPToolAction", data: { [name]: "a breach of the contract" } },
    predictedRisk: null,
  });
});

test("K1: a tool that declares every name of ours gets all of them, and is asked for nothing more", () => {
  const properties = { security_risk: text, call_security_risk: text, summary: text, call_summary: text };
  const tool = mcp(properties);
  expect(toModelTool(tool, true).parameters).toMatchObject({ properties });
  const args = { security_risk: "a", call_security_risk: "b", summary: "c", call_summary: "d" };
  expect(read(tool, args)).toMatchObject({
    action: { kind: "MCPToolAction", data: args },
    predictedRisk: null,
  });
});

test("K1: a client's tool keeps its own fields too", () => {
  const tool = client({ summary: text, security_risk: { type: "integer" } });
  expect(
    read(tool, { summary: "s", security_risk: 3, call_summary: "Says it", call_security_risk: "HIGH" }),
  ).toEqual({
    ok: true,
    tool,
    action: { kind: "ClientAction_issue", summary: "s", security_risk: 3 },
    predictedRisk: "HIGH",
    summary: "Says it",
  });
});

test("K1: a misspelt risk is still ours where the tool has no such field, and null is none", () => {
  expect(read(mcp({ key: text }), { key: "A", securtiy_risk: "HIGH" })).toMatchObject({
    action: { data: { key: "A" } },
    predictedRisk: "HIGH",
  });
  expect(read(mcp({ key: text }), { key: "A", security_risk: null, summary: null })).toMatchObject({
    ok: true,
    action: { data: { key: "A" } },
    predictedRisk: null,
  });
});
