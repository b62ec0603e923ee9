import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import { expect, test } from "vitest";
import { silentLogger } from "../lib/logger.ts";
import type { Model } from "../models/model.ts";
import { startTestServer } from "../testing/start-server.ts";
import { TestSocket } from "../testing/test-socket.ts";
import { Observer } from "./observer.ts";
import { openTraces } from "./traces.ts";
import { watchModel } from "./watch-model.ts";

const config = { url: "http://127.0.0.1:9/v1/traces", headers: {}, serviceName: "test", hasContent: false };

type Sent = {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly path: string;
  readonly text: string;
};

async function openCollector(status = 200) {
  const sent: Sent[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      sent.push({
        headers: request.headers,
        path: request.url ?? "",
        text: Buffer.concat(chunks).toString("utf8"),
      });
      response.writeHead(status, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
  return {
    url,
    sent,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
};

function spansOf(sent: readonly Sent[]): Span[] {
  type Document = { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
  return sent.flatMap(({ text }) =>
    (JSON.parse(text) as Document).resourceSpans.flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap(({ spans }) => spans),
    ),
  );
}

const attribute = (span: Span, key: string): unknown =>
  Object.values(span.attributes.find((one) => one.key === key)?.value ?? {})[0];

test("P48: request, run, model call and tool are spans of one trace, each below its parent, without content or keys", async () => {
  await using collector = await openCollector();
  const usage = { prompt_tokens: 70, completion_tokens: 7 };
  const turn = { tool_calls: [{ name: "terminal", arguments: { command: "echo canary-argument" } }], usage };
  const tracing = { ...config, url: collector.url, headers: { authorization: "Bearer collector-key" } };
  const server = await startTestServer({
    script: { turns: [turn, { text: "canary-answer", usage }] },
    config: { tracing },
  });
  await server.runTo("finished", "canary-question");
  const { key } = server;
  await server[Symbol.asyncDispose]();
  const spans = spansOf(collector.sent);
  const find = (name: string): Span[] => spans.filter((span) => span.name === name);
  const [run] = find("invoke_agent");
  const request = spans.find(({ spanId }) => spanId === run!.parentSpanId);
  expect(request!.name).toBe("POST /api/conversations");
  expect(request!.parentSpanId).toBeUndefined();
  const calls = find("chat openai/scripted");
  const tools = find("execute_tool terminal");
  expect([calls.length, tools.length]).toEqual([2, 1]);
  for (const span of [...calls, ...tools]) {
    expect(span.parentSpanId).toBe(run!.spanId);
    expect(span.traceId).toBe(request!.traceId);
    expect(attribute(span, "gen_ai.conversation.id")).toBe(attribute(run!, "gen_ai.conversation.id"));
  }
  expect(attribute(calls[0]!, "gen_ai.operation.name")).toBe("chat");
  expect(attribute(calls[0]!, "gen_ai.provider.name")).toBe("openai");
  expect(Number(attribute(calls[0]!, "gen_ai.usage.input_tokens"))).toBe(70);
  expect(Number(attribute(calls[0]!, "gen_ai.usage.output_tokens"))).toBe(7);
  expect(attribute(tools[0]!, "gen_ai.tool.name")).toBe("terminal");
  expect(new Set(collector.sent.map(({ path }) => path))).toEqual(new Set(["/v1/traces"]));
  expect(collector.sent[0]!.headers["authorization"]).toBe("Bearer collector-key");
  const text = JSON.stringify(spans);
  for (const hidden of ["canary", key, "llm-key", "collector-key"]) expect(text).not.toContain(hidden);
});

test("P32: a key in the address of a socket is in no span", async () => {
  await using collector = await openCollector();
  const server = await startTestServer({ config: { tracing: { ...config, url: collector.url } } });
  await fetch(`${server.url}/sockets/events/nobody?session_api_key=${server.key}`);
  await server[Symbol.asyncDispose]();
  const text = collector.sent.map((one) => one.text).join("");
  expect(text).toContain("/sockets/events");
  expect(text).not.toContain(server.key);
});

test("a broken collector is logged once and harms nothing", async () => {
  await using collector = await openCollector(400);
  const server = await startTestServer({
    script: { turns: [{ text: "Fine." }] },
    config: { tracing: { ...config, url: collector.url } },
  });
  await server.runTo("finished", "How are you?");
  await server[Symbol.asyncDispose]();
  const warnings = server.log.filter(({ message }) => message === "traces could not be sent");
  expect(warnings).toHaveLength(1);
});

test.each([true, false])("messages are in the spans where they are wanted: %s", async (hasContent) => {
  const spans: ReadableSpan[] = [];
  const exporter: SpanExporter = {
    export: (finished, done) => {
      spans.push(...finished);
      done({ code: 0 });
    },
    shutdown: async () => {},
  };
  const traces = await openTraces({
    config: { ...config, hasContent },
    logger: silentLogger,
    version: "0",
    exporter,
  });
  const observer = new Observer();
  observer.add(traces);
  const model: Model = {
    name: "openai/x",
    isVisionEnabled: false,
    async *stream() {
      yield {
        type: "failed",
        error: { code: "LLMTimeoutError", detail: "Nothing came.", isRetryable: true },
      };
    },
  };
  const messages = [
    { role: "user" as const, content: [{ type: "text" as const, text: "canary", cache_prompt: false }] },
    {
      role: "assistant" as const,
      content: [],
      toolCalls: [],
      reasoningContent: "a thought",
      thinkingBlocks: [{ type: "redacted_thinking" as const, data: "SEALED" }],
      reasoningItem: null,
      replay: { wire: "openai-responses", host: "h", items: [{ encrypted_content: "SEALED" }] },
    },
  ];
  const request = { messages, tools: [], cacheKey: "c" };
  await Array.fromAsync(watchModel(model, observer).stream(request, new AbortController().signal));
  await traces[Symbol.asyncDispose]();
  const [span] = spans;
  expect(span!.attributes["error.type"]).toBe("LLMTimeoutError");
  expect(JSON.stringify(span!.attributes).includes("canary")).toBe(hasContent);
  expect(JSON.stringify(span!.attributes)).not.toContain("SEALED");
});

test("P32: the span of a socket whose address has a key is without it", async () => {
  await using collector = await openCollector();
  await using server = await startTestServer({ config: { tracing: { ...config, url: collector.url } } });
  const { id } = await server.createConversation();
  for (const key of [server.key, "canary-wrong-key"]) {
    using socket = new TestSocket(`${server.url}/sockets/events/${id}?session_api_key=${key}`);
    if ((await socket.opened) === "open") await socket.untilCount(1);
    await server.call("GET", `/nowhere?session_api_key=${key}`);
  }
  await server.close();
  const statuses = spansOf(collector.sent)
    .filter(({ name }) => name.endsWith("/sockets/events/:conversationId"))
    .map((span) => Number(attribute(span, "http.response.status_code")));
  expect(statuses).toEqual([101, 403]);
  const text = collector.sent.map((one) => one.text).join("\n");
  for (const key of [server.key, "canary-wrong-key"]) expect(text).not.toContain(key);
});
