import { expect, test } from "vitest";
import { openKeyStore } from "../../settings/open-stores.ts";
import { MemorySandboxes } from "../../testing/memory-sandboxes.ts";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";
import { TestSocket } from "../../testing/test-socket.ts";
import { until } from "../../testing/until.ts";
import { webhookDefaults, webhookId } from "../../webhooks/webhook.ts";

async function read(server: TestServer): Promise<string> {
  const { status, text, headers } = await server.call("GET", "/metrics");
  expect(status, text).toBe(200);
  expect(headers.get("content-type")).toMatch(/^text\/plain; version=/);
  return text;
}

/** The value of a line; undefined when there is none. */
function valueOf(text: string, name: string): number | undefined {
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

const calling = { tool_calls: [{ name: "terminal", arguments: { command: "echo hi" } }] };
const usage = { prompt_tokens: 70, completion_tokens: 7 };

test("P48: what ran is counted: requests, runs, model calls with tokens and cost, tools, appends, sockets", async () => {
  await using server = await startTestServer({
    script: {
      turns: [
        { ...calling, usage },
        { text: "Done.", usage },
      ],
    },
    openSandboxes: async () => new MemorySandboxes(),
  });
  const { agent, ...start } = server.startRequest();
  const priced = { ...agent, llm: { ...agent.llm, input_cost_per_token: 0.5, output_cost_per_token: 1 } };
  const id = await server.runTo("finished", "Say hi.", { ...start, agent: priced });
  using socket = new TestSocket(`${server.url}/sockets/events/${id}?session_api_key=${server.key}`);
  await socket.untilCount(1);
  await server.call("GET", `/api/conversations/${id}/events/search`);
  await server.call("GET", "/nowhere");
  const runs = 'convoke_run_duration_seconds_count{error=""}';
  await until(async () => valueOf(await read(server), runs) === 1);
  const text = await read(server);
  const route = "/api/conversations/:conversation_id/events/search";
  const requests = "convoke_http_request_duration_seconds_count";
  expect(valueOf(text, `${requests}{method="GET",route="${route}",status="200"}`)).toBe(1);
  expect(valueOf(text, `${requests}{method="GET",route="unknown",status="404"}`)).toBe(1);
  const model = 'model="openai/scripted"';
  expect(valueOf(text, `convoke_model_call_duration_seconds_count{${model}}`)).toBe(2);
  expect(valueOf(text, `convoke_model_tokens_total{${model},type="prompt"}`)).toBe(140);
  expect(valueOf(text, `convoke_model_tokens_total{${model},type="completion"}`)).toBe(14);
  expect(valueOf(text, `convoke_model_cost_dollars_total{${model}}`)).toBe(84);
  expect(valueOf(text, 'convoke_tool_execution_duration_seconds_count{tool="terminal",result="ok"}')).toBe(1);
  expect(valueOf(text, "convoke_journal_append_duration_seconds_count")).toBeGreaterThan(3);
  expect(valueOf(text, 'convoke_conversations{status="finished"}')).toBe(1);
  expect(valueOf(text, 'convoke_conversations{status="error"}')).toBe(0);
  expect(valueOf(text, "convoke_open_sockets")).toBe(1);
  expect(valueOf(text, 'convoke_event_loop_lag_seconds{quantile="1"}')).toBeGreaterThanOrEqual(0);
  // Bounded: no ids, and nothing that a stranger can make up.
  expect(text).not.toContain(id);
  expect(text).not.toContain("nowhere");
  expect(text).not.toContain(server.key);
});

test("P48: model calls that fail are counted with their code", async () => {
  await using server = await startTestServer({ script: { turns: [{ error: { status: 401 } }], loop: true } });
  await server.runTo("error", "Hello");
  const labels = '{model="openai/scripted",code="LLMAuthenticationError"}';
  expect(valueOf(await read(server), `convoke_model_call_errors_total${labels}`)).toBe(1);
});

test("P42: how far a receiver is behind is a number that a monitor reads", async () => {
  const hook = { ...webhookDefaults, base_url: "http://127.0.0.1:9/away", flush_delay: 0 };
  await using server = await startTestServer({ config: { webhooks: [hook] } });
  const lag = `convoke_webhook_lag_events{receiver="${webhookId(hook)}"}`;
  expect(valueOf(await read(server), lag)).toBe(0);
  const { id } = await server.createConversation();
  for (const text of ["one", "two"])
    await server.client.sendMessage(id, { content: [{ type: "text", text }] });
  expect(valueOf(await read(server), lag)).toBe((await server.events(id)).length);
});

test("sandboxes are counted by status", async () => {
  const sandboxes = new MemorySandboxes();
  await sandboxes.start("local", "first");
  await using server = await startTestServer({ openSandboxes: async () => sandboxes });
  expect(valueOf(await read(server), 'convoke_sandboxes{status="STARTING"}')).toBe(1);
});

test("P54: the numbers of all users are for the local user; they can be opened or switched off", async () => {
  await using server = await startTestServer({});
  await using keys = await openKeyStore(server.dataDir);
  const { key } = await keys.store.create("bob", "");
  const refused = await server.call("GET", "/metrics", undefined, { "X-Session-API-Key": key });
  expect(refused).toMatchObject({ status: 403, json: { code: "operators_only" } });
  await using open = await startTestServer({ config: { metrics: "open" } });
  expect((await fetch(`${open.url}/metrics`)).status).toBe(200);
  await using off = await startTestServer({ config: { metrics: "off" } });
  expect((await off.call("GET", "/metrics")).status).toBe(404);
});
