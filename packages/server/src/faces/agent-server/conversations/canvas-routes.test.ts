import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

test("Agent Canvas asks for its extensions: there are none", async () => {
  const reply = await server.call("GET", "/api/canvas-extensions/installed");
  expect(reply).toMatchObject({ status: 200, json: { canvas_extensions: [] } });
});

test("the list of models has what clients choose beforehand, and what the user has chosen", async () => {
  await server.call("PATCH", "/api/settings", {
    agent_settings_diff: { llm: { model: "openai/of-tomorrow" } },
  });
  await server.call("POST", "/api/profiles/own", { llm: { model: "ollama/mine" } });
  const { models } = (await server.call("GET", "/api/llm/models")).json as { models: string[] };
  expect(models).toEqual(expect.arrayContaining(["gpt-5.6-sol", "openai/of-tomorrow", "ollama/mine"]));
  const ofOpenAi = (await server.call("GET", "/api/llm/models?provider=openai")).json as { models: string[] };
  expect(ofOpenAi.models).toContain("openai/of-tomorrow");
  expect(ofOpenAi.models).not.toContain("ollama/mine");
  const verified = (await server.call("GET", "/api/llm/models/verified")).json as {
    models: Record<string, string[]>;
  };
  expect(verified.models["openai"]).toEqual(expect.arrayContaining(["gpt-5.6-sol", "of-tomorrow"]));
  expect(new Set(models).size).toBe(models.length);
});

test("the form of the settings has the parts that newer clients have pages for", async () => {
  const { sections } = (await server.call("GET", "/api/settings/agent-schema")).json as {
    sections: { key: string; fields: { key: string; section: string }[] }[];
  };
  expect(sections.map(({ key }) => key)).toEqual([
    "general",
    "llm",
    "agent_context",
    "condenser",
    "verification",
    "mcp",
  ]);
  for (const { key, fields } of sections) {
    expect(fields.length).toBeGreaterThan(0);
    for (const field of fields) expect(field.section).toBe(key);
  }
  const keys = sections.flatMap(({ fields }) => fields.map(({ key }) => key));
  expect(new Set(keys).size).toBe(keys.length);
});

test("P33: null and nothing do not switch off what guards: the setting keeps its value and the request is refused by its field", async () => {
  const set = { confirmation_mode: true, max_iterations: 7 };
  await server.call("PATCH", "/api/settings", { conversation_settings_diff: set });
  await server.call("PATCH", "/api/settings", { agent_settings_diff: { llm: { model: "openai/kept" } } });
  for (const [part, change, loc] of [
    ["conversation_settings_diff", { confirmation_mode: null }, ["confirmation_mode"]],
    ["conversation_settings_diff", { max_iterations: null }, ["max_iterations"]],
    ["agent_settings_diff", { llm: { model: null } }, ["llm", "model"]],
    ["agent_settings_diff", { llm: { model: " " } }, ["llm", "model"]],
  ] as const) {
    const reply = await server.call("PATCH", "/api/settings", { [part]: change });
    expect(reply).toMatchObject({ status: 422, json: { detail: [{ loc: ["body", part, ...loc] }] } });
  }
  const { json } = await server.call("GET", "/api/settings");
  expect(json).toMatchObject({
    agent_settings: { llm: { model: "openai/kept" } },
    conversation_settings: set,
  });
});

test("settings of an ACP agent are kept and returned; a conversation without an agent has that one", async () => {
  const saved = await server.call("PATCH", "/api/settings", {
    agent_settings_diff: { agent_kind: "acp", acp_server: "claude-code", acp_model: "opus" },
  });
  expect(saved.status, saved.text).toBe(200);
  const { json } = await server.call("GET", "/api/settings");
  expect(json).toMatchObject({
    agent_settings: { agent_kind: "acp", acp_server: "claude-code", acp_model: "opus" },
  });
  const { workspace } = server.startRequest();
  const start = await server.call("POST", "/api/conversations", { workspace });
  expect(start.status, start.text).toBe(201);
  expect(start.json).toMatchObject({
    agent: { kind: "ACPAgent", acp_server: "claude-code", acp_command: [], acp_model: "opus" },
  });
  expect((await server.call("POST", "/api/conversations", server.startRequest())).status).toBe(201);
  await server.call("PATCH", "/api/settings", { agent_settings_diff: { agent_kind: "openhands" } });
  expect((await server.call("POST", "/api/conversations", { workspace })).status).toBe(201);
  const odd = await server.call("PATCH", "/api/settings", { agent_settings_diff: { agent_kind: "robot" } });
  expect(odd.status).toBe(422);
});
