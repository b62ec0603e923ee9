import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

// K14: passwords and keys that somebody put into an address.
const secret = "hidden-Passw0rd-7";
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ script: { turns: [{ text: "Fine." }], loop: true } });
});
afterAll(() => server[Symbol.asyncDispose]());

const address = (path = "/mcp") => `http://u:${secret}@127.0.0.1:9${path}`;

test("K14: a password in the address of an MCP server is refused by its field, and not shown", async () => {
  const { agent } = server.startRequest();
  const mcp = { mcpServers: { a: { url: address() } } };
  const start = { ...server.startRequest(), agent: { ...agent, mcp_config: mcp } };
  const attempts = [
    await server.call("POST", "/api/conversations", start),
    await server.call("POST", "/api/mcp/test", { server: { url: address() } }),
    await server.call("PATCH", "/api/settings", { agent_settings_diff: { mcp_config: mcp } }),
  ];
  for (const { status, text } of attempts) {
    expect(status, text).toBe(422);
    expect(text).toContain("inside the address");
    expect(text).not.toContain(secret);
  }
});

test.each([
  ["a password", `http://u:${secret}@127.0.0.1:9/v1`],
  ["a key in the query", `http://127.0.0.1:9/v1?key=${secret}`],
])("K14: %s in base_url is hidden wherever a model is shown", async (_, baseUrl) => {
  const { agent } = server.startRequest();
  const llm = { ...agent.llm, base_url: baseUrl, num_retries: 0 };
  const condenser = { kind: "LLMSummarizingCondenser" as const, llm, max_size: 100 };
  const { id } = await server.createConversation({ agent: { ...agent, llm, condenser }, text: "go" });
  await server.waitForStatus(id, "error");
  const saved = await server.call("POST", "/api/profiles/hidden", { llm, include_secrets: true });
  expect(saved.status, saved.text).toBe(201);
  await server.call("POST", "/api/settings", { llm_model: "openai/x", llm_base_url: baseUrl });
  const switched = await server.call("POST", `/api/conversations/${id}/switch_llm`, { llm });
  expect(switched.status, switched.text).toBe(200);
  const shown = [
    `/api/conversations/${id}`,
    `/api/conversations/${id}/events/search`,
    "/api/conversations/search",
    "/api/profiles",
    "/api/profiles/hidden",
    "/api/v1/settings/profiles",
    "/api/settings",
    "/api/v1/settings",
  ];
  for (const path of shown) {
    const { status, text } = await server.call("GET", path);
    expect(status, path).toBe(200);
    expect(text, path).not.toContain(secret);
  }
  // What was shown and is sent back changes nothing.
  const settings = (await server.call("GET", "/api/settings")).json as { llm_base_url: string };
  expect(settings.llm_base_url).toContain("**********");
  const back = await server.call("POST", "/api/settings", { llm_base_url: settings.llm_base_url });
  expect(back.status, back.text).toBe(200);
});
