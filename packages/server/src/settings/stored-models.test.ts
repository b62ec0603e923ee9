import { expect, test } from "vitest";
import { startScriptedModel } from "../testing/index.ts";
import { startTestServer, type TestServer } from "../testing/start-server.ts";

const llm = (url: string, more: object = {}) => ({
  model: "openai/scripted",
  base_url: `${url}/v1`,
  api_key: "llm-key",
  num_retries: 1,
  ...more,
});

async function saved(server: TestServer, name: string, url: string, key = server.key): Promise<void> {
  const reply = await server.call(
    "POST",
    `/api/profiles/${name}`,
    { llm: llm(url) },
    {
      "X-Session-API-Key": key,
    },
  );
  expect(reply.status, reply.text).toBeLessThan(300);
}

test("L23.32: when the model is down, a stored model of the conversation's owner answers", async () => {
  await using server = await startTestServer({ script: { turns: [{ error: { status: 503 } }], loop: true } });
  await using second = await startScriptedModel({
    script: { turns: [{ text: "I am second." }], loop: true },
  });
  await saved(server, "second", second.url);
  const fallback = { fallback_strategy: { fallback_llms: ["second"] } };
  const agent = { kind: "Agent" as const, llm: llm(server.model.url, fallback), tools: [] };
  const id = await server.runTo("finished", "Who are you?", { agent });
  expect(JSON.stringify(await server.events(id))).toContain("I am second.");
  const info = await server.client.getConversation(id);
  expect(info.agent.llm).toMatchObject(fallback);
  expect(second.requests.length).toBe(1);
});

test("a router chooses among stored models", async () => {
  await using server = await startTestServer({ script: { turns: [], loop: true } });
  await using routed = await startScriptedModel({ script: { turns: [{ text: "Routed." }], loop: true } });
  await saved(server, "only", routed.url);
  const router = { router: { kind: "RandomRouter", llms_for_routing: ["only"] } };
  const agent = { kind: "Agent" as const, llm: llm(server.model.url, router), tools: [] };
  const id = await server.runTo("finished", "Hello", { agent });
  expect(JSON.stringify(await server.events(id))).toContain("Routed.");
});

test("a stored model of another user is not there", async () => {
  await using server = await startTestServer({ script: { turns: [{ error: { status: 503 } }], loop: true } });
  await using second = await startScriptedModel({ script: { turns: [{ text: "Not yours." }], loop: true } });
  await using keys = await server.openKeys();
  await saved(server, "second", second.url, (await keys.store.create("bob", "")).key);
  const fallback = { fallback_strategy: { fallback_llms: ["second"] } };
  const agent = { kind: "Agent" as const, llm: llm(server.model.url, fallback), tools: [] };
  const id = await server.runTo("error", "Who are you?", { agent });
  expect(JSON.stringify(await server.events(id))).toContain("The fallback profile second does not exist.");
  expect(second.requests.length).toBe(0);
});
