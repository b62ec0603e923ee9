import type { Event, MetricsSnapshot } from "@convoke/protocol";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";
import { TestSocket } from "../../testing/test-socket.ts";
import { until } from "../../testing/until.ts";

const beginning = "These words came before the end.";

test("L23.19, P48: an interrupt keeps what the model has said, and counts what it has used", async () => {
  const slow = { text: `${beginning} ${"more ".repeat(10_000)}`, chunk_size: 40, chunk_delay_ms: 25 };
  await using server = await startTestServer({ script: { turns: [slow, { text: "Now to the end." }] } });
  const agent = {
    kind: "Agent" as const,
    llm: {
      model: "openai/scripted",
      base_url: `${server.model.url}/v1`,
      api_key: "llm-key",
      stream: true,
      input_cost_per_token: 0.001,
      output_cost_per_token: 0.002,
    },
    tools: [],
  };
  const { id } = await server.createConversation({ agent, text: "Tell me." });
  await until(() => server.model.requests.length === 1);
  // The frames of a socket say how far the answer is.
  const sawAll = await waitForDeltas(server.url, server.key, id, beginning.length + 40);
  await server.call("POST", `/api/conversations/${id}/interrupt`);
  expect(sawAll).toBe(true);
  const stats = (log: readonly Event[]) =>
    log.filter((event) => event.kind === "ConversationStateUpdateEvent" && event.key === "stats");
  let log = await server.events(id);
  await until(async () => {
    log = await server.events(id);
    return stats(log).length > 0;
  });
  const message = log.find(({ kind, source }) => kind === "MessageEvent" && source === "agent");
  const text = JSON.stringify(message);
  expect(text).toContain(beginning);
  expect(text.length).toBeLessThan(JSON.stringify(slow).length);
  expect(stats(log)[0]).toMatchObject({
    value: {
      usage_to_metrics: {
        default: {
          accumulated_cost: expect.toSatisfy((cost: number) => cost > 0.1) as number,
          accumulated_token_usage: {
            prompt_tokens: expect.toSatisfy((tokens: number) => tokens > 100) as number,
            completion_tokens: expect.toSatisfy((tokens: number) => tokens >= 8) as number,
          },
        },
      },
    },
  });
  // Metrics say what the stats say.
  const { value } = stats(log)[0] as { value: { usage_to_metrics: Record<string, MetricsSnapshot> } };
  const { accumulated_cost: cost, accumulated_token_usage: tokens } = value.usage_to_metrics["default"]!;
  const { text: metrics } = await server.call("GET", "/metrics");
  const count = (name: string): number => Number(metrics.match(new RegExp(`^${name}.*\\} (.+)$`, "mu"))?.[1]);
  expect(count('convoke_model_tokens_total.*type="prompt"')).toBe(tokens!.prompt_tokens);
  expect(count('convoke_model_tokens_total.*type="completion"')).toBe(tokens!.completion_tokens);
  expect(count("convoke_model_cost_dollars_total")).toBeCloseTo(cost!);
  // The question is still open: the model is asked again, with its own words and a note behind them.
  await server.call("POST", `/api/conversations/${id}/run`);
  await server.waitForStatus(id, "finished");
  const { messages } = server.model.requests[1]!.body as { messages: { role: string; content: unknown }[] };
  expect(messages.slice(1).map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  expect(JSON.stringify(messages[2])).toContain(beginning);
  expect(JSON.stringify(messages[3])).toContain("stopped before its end");
});

const secret = "canary-7f3a-secret-value";
const half = secret.slice(0, 15);

/** A conversation that knows the secret, and whose agent streams. */
async function startStreaming(server: TestServer, text: string): Promise<string> {
  const llm = {
    model: "openai/scripted",
    base_url: `${server.model.url}/v1`,
    api_key: "llm-key",
    stream: true,
  };
  const secrets = { KEY: { kind: "StaticSecret" as const, value: secret } };
  const { id } = await server.createConversation({ agent: { kind: "Agent", llm, tools: [] }, secrets });
  await server.client.sendMessage(id, { content: [{ type: "text", text }], run: false });
  return id;
}

function textIn(frames: readonly Record<string, unknown>[]): string {
  return frames.map(({ kind, content }) => (kind === "StreamingDeltaEvent" ? String(content) : "")).join("");
}

test("P13: half a secret does not show where an interrupt cuts the answer off, and not in what was streamed of it", async () => {
  const chunk = { id: "r", choices: [{ index: 0, delta: { content: `The key is ${half}` } }] };
  const raw = {
    headers: { "content-type": "text/event-stream" },
    body: `data: ${JSON.stringify(chunk)}\n\n`,
    ending: "hang",
  } as const;
  await using server = await startTestServer({ script: { turns: [{ raw }] } });
  const id = await startStreaming(server, "Tell me.");
  using socket = new TestSocket(`${server.url}/sockets/events/${id}?session_api_key=${server.key}`);
  await socket.opened;
  await socket.untilCount(1);
  await server.client.run(id);
  await socket.until((frames) => textIn(frames) === "The key is ");
  await server.client.interrupt(id);
  await socket.until((frames) => frames.some(({ kind }) => kind === "InterruptEvent"));
  const message = (await server.events(id)).find(
    ({ kind, source }) => kind === "MessageEvent" && source === "agent",
  );
  expect(JSON.stringify(message)).toContain("The key is <secret-hidden>");
  expect(socket.frames.join("")).not.toContain(half.slice(0, 8));
});

test("P13: a secret that is streamed in pieces is hidden, and words that begin like one stay where an answer ends by itself", async () => {
  const text = `First ${secret}, then ${half}`;
  await using server = await startTestServer({ script: { turns: [{ text, chunk_size: 3 }] } });
  const id = await startStreaming(server, "Tell me.");
  using socket = new TestSocket(`${server.url}/sockets/events/${id}?session_api_key=${server.key}`);
  await socket.opened;
  await socket.untilCount(1);
  await server.client.run(id);
  await server.waitForStatus(id, "finished");
  const expected = `First <secret-hidden>, then ${half}`;
  await socket.until((frames) => textIn(frames) === expected);
  expect(JSON.stringify(await server.events(id))).toContain(expected);
});

/** Resolves with true once so many characters of the answer have come. */
async function waitForDeltas(url: string, key: string, id: string, characters: number): Promise<boolean> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/sockets/events/${id}?session_api_key=${key}`);
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  let count = 0;
  socket.addEventListener("error", () => reject(new Error("The socket failed.")));
  socket.addEventListener("message", ({ data }) => {
    const frame = JSON.parse(String(data)) as { kind: string; content?: string };
    if (frame.kind === "StreamingDeltaEvent") count += frame.content?.length ?? 0;
    if (count >= characters) resolve(true);
  });
  try {
    return await promise;
  } finally {
    socket.close();
  }
}
