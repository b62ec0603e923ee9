import type { LLM } from "@convoke/protocol";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createFastModelClock } from "./clock.ts";
import type { ModelPart, ModelResponse } from "./model.ts";
import { openModel } from "./open-model.ts";
import type { Send } from "./provider-fetch.ts";

type Sent = { readonly url: string; readonly headers: Headers; readonly body: Record<string, unknown> };

const request = {
  messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "Hi" }] }],
  tools: [],
  cacheKey: "c",
};

/** Runs one request against canned responses; the last response answers all further requests. */
async function run(
  llm: LLM,
  responses: readonly (() => Response)[],
): Promise<{ parts: ModelPart[]; sent: Sent[] }> {
  const sent: Sent[] = [];
  const send: Send = async (input, init) => {
    const body = JSON.parse(typeof init?.body === "string" ? init.body : "{}") as Record<string, unknown>;
    sent.push({
      url: input instanceof Request ? input.url : input.toString(),
      headers: new Headers(init?.headers),
      body,
    });
    const respond = responses[Math.min(sent.length, responses.length) - 1];
    if (respond === undefined) throw new Error("No response is canned.");
    return respond();
  };
  const model = openModel({ num_retries: 1, ...llm }, { send, clock: createFastModelClock(200) });
  const parts: ModelPart[] = [];
  for (let repeat = 0; repeat < (responses.length > 1 ? 2 : 1); repeat += 1) {
    for await (const part of model.stream(request, new AbortController().signal)) parts.push(part);
  }
  return { parts, sent };
}

function events(chunks: readonly (object | string)[], type = "text/event-stream"): () => Response {
  const text = chunks
    .map((chunk) => (typeof chunk === "string" ? chunk : `data: ${JSON.stringify(chunk)}\n\n`))
    .join("");
  return () => new Response(text, { headers: { "content-type": type } });
}

function status(code: number, body: string, headers: Record<string, string> = {}): () => Response {
  return () => new Response(body, { status: code, headers });
}

const hello = {
  id: "r1",
  model: "m",
  choices: [{ index: 0, delta: { content: "Hello" }, finish_reason: null }],
};
const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
const openai: LLM = { model: "openai/gpt-4.1", api_key: "configured-key" };

function done(parts: readonly ModelPart[]): ModelResponse {
  const part = parts.findLast(({ type }) => type === "done");
  if (part?.type !== "done") throw new Error(`No answer: ${JSON.stringify(parts)}`);
  return part.response;
}

function failure(parts: readonly ModelPart[]) {
  const last = parts.at(-1);
  return last?.type === "failed" ? last.error : null;
}

afterEach(() => vi.unstubAllEnvs());

describe("openModel", () => {
  test.each<[string, LLM, string, string, string]>([
    [
      "openai",
      openai,
      "https://api.openai.com/v1/chat/completions",
      "authorization",
      "Bearer configured-key",
    ],
    [
      "anthropic",
      { model: "anthropic/claude-opus-4-7", api_key: "configured-key" },
      "https://api.anthropic.com/v1/messages",
      "x-api-key",
      "configured-key",
    ],
  ])(
    "P13 P60: %s gets exactly what is configured, nothing from the environment",
    async (_, llm, url, header, key) => {
      for (const name of ["OPENAI", "ANTHROPIC"]) {
        vi.stubEnv(`${name}_API_KEY`, "from-environment");
        vi.stubEnv(`${name}_BASE_URL`, "https://environment.example");
        vi.stubEnv(`${name}_CUSTOM_HEADERS`, "X-Leak: from-environment");
      }
      vi.stubEnv("OPENAI_ORG_ID", "from-environment");
      vi.stubEnv("OPENAI_PROJECT_ID", "from-environment");
      vi.stubEnv("ANTHROPIC_AUTH_TOKEN", "from-environment");
      const { sent } = await run({ ...llm, extra_headers: { "X-Mine": "1" } }, [events([])]);
      expect(sent.map((one) => one.url)).toEqual([url]);
      const headers = Object.fromEntries(sent[0]?.headers ?? []);
      expect(headers).toMatchObject({ [header]: key, "x-mine": "1", "user-agent": "convoke" });
      expect(JSON.stringify(headers)).not.toContain("environment");
      expect(Object.keys(headers).filter((name) => /stainless|organization/u.test(name))).toEqual([]);
    },
  );

  test("a missing key is said before anything is sent", async () => {
    for (const model of ["openai/gpt-4.1", "anthropic/claude-opus-4-7", "groq/x"]) {
      const { parts, sent } = await run({ model, num_retries: 3 }, [events([])]);
      expect(failure(parts)).toMatchObject({ code: "LLMAuthenticationError", isRetryable: false });
      expect(failure(parts)?.detail).toContain("set llm.api_key");
      expect(sent).toEqual([]);
    }
  });

  test("a server of one's own needs no key", async () => {
    const { sent } = await run({ model: "ollama/llama3" }, [events([hello, end])]);
    expect(sent[0]?.url).toBe("http://localhost:11434/v1/chat/completions");
    expect(sent[0]?.headers.get("authorization")).toBe("Bearer none");
  });

  test("a name without a home is refused with the fix", () => {
    expect(() => openModel({ model: "wonder-1" })).toThrow(/^llm\.model: .*llm\.base_url/u);
  });

  test("a field the model refuses is left out, now and later", async () => {
    const refusal = status(
      400,
      JSON.stringify({
        error: {
          message: "Unsupported parameter: 'temperature' is not supported with this model.",
          param: "temperature",
        },
      }),
    );
    const { parts, sent } = await run({ ...openai, temperature: 0.2 }, [refusal, events([hello, end])]);
    expect(sent.map(({ body }) => body["temperature"])).toEqual([0.2, undefined, undefined]);
    expect(parts.filter(({ type }) => type === "done")).toHaveLength(2);
    const result = await run({ ...openai, temperature: 0.2, drop_params: false }, [refusal]);
    expect(failure(result.parts)?.code).toBe("LLMBadRequestError");
  });

  test("L23.34: cache marks that are refused go, and everything else stays", async () => {
    const refusal = status(400, JSON.stringify({ error: { message: "cache_control: not supported here" } }));
    const { sent } = await run({ model: "anthropic/claude-sonnet-4-5", api_key: "k" }, [refusal, events([])]);
    const [first, second] = sent.map(({ body }) => JSON.stringify(body));
    expect(first).toContain("cache_control");
    expect(second).toBe(first?.replaceAll(',"cache_control":{"type":"ephemeral"}', ""));
    expect(sent[1]?.headers.get("anthropic-beta")).toBe(sent[0]?.headers.get("anthropic-beta"));
  });

  test.each<[string, readonly (object | string)[]]>([
    ["ends with [DONE] alone", [hello, "data: [DONE]\n\n"]],
    ["ends with a finish reason alone", [hello, end]],
    ["sends comments and empty deltas", [": working\n\n", { choices: [] }, hello, { choices: null }, end]],
    ["talks after the end", [hello, end, "data: [DONE]\n\n", "data: {broken\n\n"]],
  ])("an answer that %s is whole", async (_, chunks) => {
    expect(done((await run(openai, [events(chunks)])).parts).message.content).toEqual([
      { type: "text", text: "Hello" },
    ]);
  });

  test("a server that never hangs up after the end does not hold us", async () => {
    const open = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(Buffer.from(`data: ${JSON.stringify(hello)}\n\ndata: [DONE]\n\n`));
      },
    });
    const { parts } = await run({ ...openai, timeout: null }, [() => new Response(open)]);
    expect(done(parts).message.content).toEqual([{ type: "text", text: "Hello" }]);
  });

  test("an answer without usage costs an unknown amount; a gateway's bill wins", async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5 };
    expect(done((await run(openai, [events([hello, end])])).parts).usage.cost).toBeNull();
    expect(done((await run(openai, [events([hello, { ...end, usage }])])).parts).usage.cost).toBeCloseTo(
      6e-5,
      12,
    );
    const billed = events([hello, { ...end, usage: { ...usage, cost: 0.25 } }]);
    expect(done((await run(openai, [billed])).parts).usage.cost).toBe(0.25);
    const priced = { ...openai, input_cost_per_token: 1, output_cost_per_token: 2, max_input_tokens: 5000 };
    expect(done((await run(priced, [events([hello, { ...end, usage }])])).parts).usage).toMatchObject({
      cost: 20,
      contextWindow: 5000,
    });
  });

  test.each<[string, () => Response, string, string]>([
    [
      "an error inside a stream",
      events([hello, { error: { code: 429, message: "Slow down" } }]),
      "LLMRateLimitError",
      "Slow down",
    ],
    [
      "an error inside a JSON answer",
      status(200, '{"error":{"message":"Overloaded","code":502}}'),
      "LLMServiceUnavailableError",
      "Overloaded",
    ],
    [
      "an error as detail",
      status(422, '{"detail":[{"loc":["body"],"msg":"nope"}]}'),
      "LLMBadRequestError",
      "nope",
    ],
    [
      "an error as a string",
      status(400, '{"error":"model \\"m\\" not found"}'),
      "LLMBadRequestError",
      "not found",
    ],
    [
      "an error as text",
      status(502, "upstream connect error"),
      "LLMServiceUnavailableError",
      "upstream connect error",
    ],
    [
      "an error as a page",
      status(503, "<html><title>Maintenance</title><body>...</body></html>"),
      "LLMServiceUnavailableError",
      "Maintenance",
    ],
    ["a web page", status(200, "<!doctype html><html></html>"), "LLMBadRequestError", "llm.base_url"],
    ["a redirect", status(302, "", { location: "https://evil.example" }), "LLMBadRequestError", "302"],
    ["an empty body", status(200, ""), "LLMServiceUnavailableError", "broke off"],
  ])("%s is explained", async (_, respond, code, words) => {
    const { parts, sent } = await run(openai, [respond]);
    expect(failure(parts)).toMatchObject({ code });
    expect(failure(parts)?.detail).toContain(words);
    expect(sent).toHaveLength(1);
  });

  test("thinking in Mistral's parts and reasoning in OpenRouter's field are both reasoning", async () => {
    const parts = [
      { choices: [{ delta: { reasoning: "one " } }] },
      {
        choices: [{ delta: { content: [{ type: "thinking", thinking: [{ type: "text", text: "two" }] }] } }],
      },
      { choices: [{ delta: { content: [{ type: "text", text: "Hello" }] } }] },
      end,
    ];
    expect(done((await run(openai, [events(parts)])).parts).message).toMatchObject({
      content: [{ type: "text", text: "Hello" }],
      reasoningContent: "one two",
    });
  });

  test("a refusal is shown as what the model said", async () => {
    const { parts } = await run(openai, [
      events([{ choices: [{ delta: { refusal: "I will not." } }] }, end]),
    ]);
    expect(done(parts).message.content).toEqual([{ type: "text", text: "I will not." }]);
  });

  test("overload inside an Anthropic stream may pass", async () => {
    const chunk =
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
    const { parts } = await run({ model: "anthropic/claude-opus-4-7", api_key: "k" }, [events([chunk])]);
    expect(failure(parts)).toMatchObject({ code: "LLMServiceUnavailableError", isRetryable: true });
  });

  test("K4: the oldest form of a call is read", async () => {
    const delta = (call: object) => ({ id: "r1", choices: [{ index: 0, delta: { function_call: call } }] });
    const { parts } = await run(openai, [
      events([delta({ name: "look", arguments: '{"a"' }), delta({ arguments: ":1}" }), end]),
    ]);
    expect(done(parts).message.toolCalls).toMatchObject([{ name: "look", arguments: '{"a":1}' }]);
  });

  test("K4: an answer of nothing but a call without a name is asked for again", async () => {
    const nameless = {
      id: "r1",
      choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: "a", function: { arguments: "{}" } }] } }],
    };
    const { parts } = await run({ ...openai, num_retries: 2 }, [
      events([nameless, end]),
      events([hello, end]),
    ]);
    expect(parts.map(({ type }) => type)).toContain("retry");
    expect(done(parts).message.content).toEqual([{ type: "text", text: "Hello" }]);
  });

  test.each([
    ["openai/gpt-4.1", "event: error\ndata: the engine is on fire\n\n"],
    ["openai/gpt-4.1", 'event: error\ndata: "the engine is on fire"\n\n'],
    ["openai/gpt-4.1", 'event: error\ndata: {"message":"the engine is on fire"}\n\n'],
    ["openai/gpt-4.1", "data: the engine is on fire\n\n"],
    ["openai_responses/gpt-5", "event: error\ndata: the engine is on fire\n\n"],
    ["anthropic/claude-sonnet-4-5", "event: error\ndata: the engine is on fire\n\n"],
  ])("K4: %s keeps the text of %j", async (model, text) => {
    const { parts } = await run({ model, api_key: "configured-key" }, [events([text])]);
    expect(failure(parts)).toMatchObject({
      detail: expect.stringContaining("the engine is on fire") as string,
    });
  });

  test("K4: a whole message behind its pieces says nothing new", async () => {
    const call = { id: "a", type: "function", function: { name: "look", arguments: "{}" } };
    const { parts } = await run(openai, [
      events([
        hello,
        { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] } }] },
        { choices: [{ index: 0, message: { content: "Hello", tool_calls: [call] }, finish_reason: "stop" }] },
      ]),
    ]);
    expect(done(parts).message).toMatchObject({ content: [{ text: "Hello" }], toolCalls: [{ id: "a" }] });
    expect(done(parts).message.toolCalls).toHaveLength(1);
  });
});

test.each([
  ["openai/gpt-4.1", "chat"],
  ["openai/gpt-5", "responses"],
  ["anthropic/claude-sonnet-4-5", "messages"],
  ["gemini/gemini-2.5-pro", "google"],
  ["openrouter/x/y", "another provider"],
])("K20: %s (%s): a key or header that cannot be sent is named, and not tried again", async (model) => {
  const failed = async (llm: LLM) => {
    const { parts, sent } = await run({ model, num_retries: 3, ...llm }, [status(200, "{}")]);
    expect(sent).toEqual([]);
    expect(parts).toHaveLength(1);
    const [part] = parts;
    if (part?.type !== "failed") throw new Error(`Not a failure: ${JSON.stringify(part)}`);
    expect(part.error.isRetryable).toBe(false);
    return part.error;
  };
  expect(await failed({ api_key: "sk-abc\u2019def" })).toMatchObject({
    code: "LLMAuthenticationError",
    detail:
      "llm.api_key has the character U+2019 at position 7, which no header can carry. Copy the key again.",
  });
  expect((await failed({ api_key: "sk-a\u0001b" })).detail).toContain("control character U+0001");
  for (const extra_headers of [
    { "X-Team": "a\nb" },
    { "X-Team": "日本" },
    { "X-Team": "a\u0000" },
    { "X Team": "a" },
  ])
    expect(await failed({ api_key: "sk-abcdef", extra_headers })).toMatchObject({
      code: "LLMBadRequestError",
      detail: expect.stringMatching(/^llm\.extra_headers: "X.Team" has /u) as string,
    });
});
