import { afterEach, describe, expect, test } from "vitest";
import {
  startScriptedModel,
  type Script,
  type ScriptTurn,
  type ScriptedModelServer,
} from "../testing/scripted-model/scripted-model.ts";
import { createFastModelClock, type ModelClock } from "./clock.ts";
import type {
  AssistantMessage,
  Model,
  ModelMessage,
  ModelPart,
  ModelRequest,
  ModelResponse,
} from "./model.ts";

/** What the suite asks of a backend: a model at this address, with these limits. Waits of seconds pass in milliseconds. */
export type OpenContractModel = (options: ContractModelOptions) => Model;

export type ContractModelOptions = {
  readonly url: string;
  readonly apiKey: string;
  readonly clock: ModelClock;
  readonly attempts: number;
  readonly timeoutSeconds: number;
};

/** How a backend's wire differs where the suite looks into requests. */
export type ContractWire = {
  /** Tool calls of assistant messages in a recorded body, arguments as JSON text. */
  replayedCalls(body: Readonly<Record<string, unknown>>): { id: string; name: string; arguments: string }[];
  /** False where the protocol turns argument text into an object. */
  readonly isTextReplayed: boolean;
  readonly hasThinkingBlocks: boolean;
};

const apiKey = "test-key-9f8e7d6c5b4a";
const canary = JSON.stringify({ path: "/a", text: "ü 漢字 🧪 \u0007\n", number: 1.5, list: [1, "2", null] });

/** The suite every backend passes, against the scripted model over HTTP in that backend's wire. */
export function describeModel(name: string, open: OpenContractModel, wire: ContractWire): void {
  describe(name, () => {
    let server: ScriptedModelServer | undefined;
    afterEach(async () => {
      await server?.[Symbol.asyncDispose]();
      server = undefined;
    });

    async function start(
      script: Script | ScriptTurn[],
      more: Partial<ContractModelOptions> = {},
    ): Promise<Model> {
      server = await startScriptedModel({ script: Array.isArray(script) ? { turns: script } : script });
      const clock = createFastModelClock(200);
      return open({ url: server.url, apiKey, clock, attempts: 1, timeoutSeconds: 60, ...more });
    }

    async function run(
      turns: Script | ScriptTurn[],
      more: Partial<ContractModelOptions> = {},
    ): Promise<ModelPart[]> {
      return await collect(await start(turns, more));
    }

    test("text is streamed and returned whole", async () => {
      const text = "Grüße, 漢字 and 🧪 across pieces.";
      const parts = await run([{ text, chunk_size: 3, usage: { prompt_tokens: 100, completion_tokens: 7 } }]);
      const done = doneOf(parts);
      expect(textOf(parts)).toBe(text);
      expect(done.message).toEqual({
        role: "assistant",
        content: [{ type: "text", text }],
        toolCalls: [],
        reasoningContent: null,
        thinkingBlocks: [],
        reasoningItem: null,
      });
      expect(done.id).toBe("resp-1");
      expect(done.isTruncated).toBe(false);
      expect(done.usage).toMatchObject({ promptTokens: 100, completionTokens: 7, cacheReadTokens: 0 });
    });

    test("a server that ignores streaming is understood", async () => {
      const turn = { reasoning: "hm", text: "plain", tool_calls: [{ name: "look", arguments: { at: "b" } }] };
      const parts = await run([{ ...turn, plain_json: true }]);
      expect(textOf(parts)).toBe("plain");
      expect(doneOf(parts).message).toMatchObject({
        content: [{ type: "text", text: "plain" }],
        reasoningContent: "hm",
        toolCalls: [{ id: "call-1-1", name: "look", arguments: '{"at":"b"}', origin: "completion" }],
      });
    });

    test("parallel tool calls keep their order, ids and argument text", async () => {
      const calls = [
        { name: "first", arguments: canary, id: "call_A" },
        { name: "second", arguments: '{ "spaced" :  1.0 }', id: "call_B" },
        { name: "third", arguments: "{}", id: "call_C" },
      ];
      const parts = await run([{ text: "Now:", tool_calls: calls, chunk_size: 2 }]);
      expect(doneOf(parts).message.toolCalls).toEqual(
        calls.map((call) => ({ ...call, origin: "completion" })),
      );
      const shown = calls.map((_, index) => argumentsOf(parts, index));
      expect(shown).toEqual(calls.map((call) => call.arguments));
    });

    test("a tool call without arguments is an empty object", async () => {
      const parts = await run([{ tool_calls: [{ name: "bare", arguments: "" }] }]);
      expect(doneOf(parts).message.toolCalls).toMatchObject([{ name: "bare", arguments: "{}" }]);
    });

    test("L33: a call is replayed byte for byte, with its result", async () => {
      const turns = [
        { text: " ", tool_calls: [{ name: "look", arguments: canary, id: "call_A" }] },
        { text: "ok" },
      ];
      const model = await start(turns);
      const { message } = doneOf(await collect(model));
      const result = toolResult("call_A", "look", "");
      doneOf(await collect(model, [userMessage("Go."), message, result]));
      const recorded = server?.requests[1];
      expect(recorded?.turn).toBe(1);
      expect(wire.replayedCalls(recorded?.body ?? {})).toEqual([
        { id: "call_A", name: "look", arguments: canary },
      ]);
      expect(recorded?.text).not.toContain('"content":""');
    });

    test("P12: broken arguments in the history do not break the request", async () => {
      const broken = '{"path": "/a", "text": "unfin';
      const turns = [{ tool_calls: [{ name: "look", arguments: broken, id: "call_A" }] }, { text: "ok" }];
      const model = await start(turns);
      const { message } = doneOf(await collect(model));
      expect(message.toolCalls[0]?.arguments).toBe(broken);
      doneOf(await collect(model, [userMessage("Go."), message, toolResult("call_A", "look", "bad JSON")]));
      expect(wire.replayedCalls(server?.requests[1]?.body ?? {})).toEqual([
        { id: "call_A", name: "look", arguments: wire.isTextReplayed ? broken : "{}" },
      ]);
    });

    test("arguments of 1 MB arrive whole", async () => {
      const text = JSON.stringify({ content: "x漢".repeat(350_000) });
      const parts = await run([{ tool_calls: [{ name: "write", arguments: text }] }]);
      expect(doneOf(parts).message.toolCalls[0]?.arguments === text).toBe(true);
    });

    test("an answer cut into single bytes is the same answer", async () => {
      const turn = { reasoning: "denk — ", text: "ü漢🧪", tool_calls: [{ name: "a", arguments: canary }] };
      const whole = doneOf(await run([turn]));
      await server?.[Symbol.asyncDispose]();
      const cut = doneOf(await run([{ ...turn, write_bytes: 1, chunk_size: 5 }]));
      expect({ ...cut, latencyMs: 0 }).toEqual({ ...whole, latencyMs: 0 });
    });

    test("reasoning alone is an answer", async () => {
      const parts = await run([{ reasoning: "only thoughts", signature: "c2ln" }]);
      expect(
        parts
          .filter((part) => part.type === "reasoning")
          .map((part) => part.text)
          .join(""),
      ).toBe("only thoughts");
      expect(doneOf(parts).message).toMatchObject({
        content: [],
        reasoningContent: "only thoughts",
        thinkingBlocks: wire.hasThinkingBlocks
          ? [{ type: "thinking", thinking: "only thoughts", signature: "c2ln" }]
          : [],
      });
    });

    test("an empty answer is tried again and then fails", async () => {
      const parts = await run([{ empty: true }], { attempts: 2 });
      expect(parts.map((part) => part.type)).toEqual(["retry", "failed"]);
      expect(failureOf(parts)).toMatchObject({ code: "LLMNoResponseError", isRetryable: true });
      expect(server?.requests).toHaveLength(2);
    });

    test("a blocked answer is a content policy error and is not tried again", async () => {
      const parts = await run([{ text: "I was about to", finish_reason: "content_filter" }], { attempts: 3 });
      expect(failureOf(parts).code).toBe("LLMContentPolicyViolationError");
      expect(server?.requests).toHaveLength(1);
    });

    test("an answer that hits the output limit says so", async () => {
      expect(doneOf(await run([{ text: "half a sen", finish_reason: "length" }])).isTruncated).toBe(true);
    });

    test("L23 P11: overflow is recognised before any retry", async () => {
      const parts = await run([{ overflow: true }], { attempts: 5 });
      expect(parts.map((part) => part.type)).toEqual(["failed"]);
      expect(failureOf(parts)).toMatchObject({ code: "LLMContextWindowExceedError", isRetryable: false });
      expect(server?.requests).toHaveLength(1);
    });

    test("L23: overflow wrapped in a 500 is still overflow", async () => {
      const error = { status: 500, message: "upstream said: prompt is too long: 9 tokens > 8 maximum" };
      const parts = await run([{ error }], { attempts: 5 });
      expect(failureOf(parts).code).toBe("LLMContextWindowExceedError");
      expect(server?.requests).toHaveLength(1);
    });

    test.each([
      [401, "LLMAuthenticationError", false],
      [403, "LLMAuthenticationError", false],
      [404, "LLMBadRequestError", false],
      [400, "LLMBadRequestError", false],
      [422, "LLMBadRequestError", false],
      [408, "LLMTimeoutError", true],
      [429, "LLMRateLimitError", true],
      [500, "LLMServiceUnavailableError", true],
      [503, "LLMServiceUnavailableError", true],
      [529, "LLMServiceUnavailableError", true],
    ] as const)("status %i is %s", async (status, code, isRetryable) => {
      const parts = await run([{ error: { status, message: "The provider explains." } }]);
      expect(failureOf(parts)).toMatchObject({ code, isRetryable });
      expect(failureOf(parts).detail).toContain("The provider explains.");
    });

    test("P35: a rate limit is waited out for as long as the provider asks", async () => {
      const error = { status: 429, retry_after: "2" };
      const parts = await run([{ error, attempts: 2, text: "at last" }], { attempts: 3 });
      const retries = parts.filter((part) => part.type === "retry");
      expect(retries.map((part) => [part.attempt, part.error.code, part.error.retryAfterMs])).toEqual([
        [1, "LLMRateLimitError", 2000],
        [2, "LLMRateLimitError", 2000],
      ]);
      expect(doneOf(parts).message.content).toEqual([{ type: "text", text: "at last" }]);
    });

    test("P35: attempts are bounded", async () => {
      const parts = await run([{ error: { status: 503 } }], { attempts: 3 });
      expect(parts.map((part) => part.type)).toEqual(["retry", "retry", "failed"]);
      expect(server?.requests).toHaveLength(3);
    });

    test.each([
      ["cut off", { text: "some text that is never finished", cut_after_bytes: 300 }],
      ["with broken JSON inside", { text: "some text that is never finished", half_json: true }],
      ["plain, with broken JSON", { text: "some text", half_json: true, plain_json: true }],
    ] satisfies [string, ScriptTurn][])(
      "L19 P35: an answer %s is void and asked for again",
      async (_, turn) => {
        const parts = await run([{ ...turn, attempts: 1 }], { attempts: 2 });
        expect(parts.filter((part) => part.type === "retry").map((part) => part.error.code)).toEqual([
          "LLMServiceUnavailableError",
        ]);
        expect(doneOf(parts).message.content).toEqual([{ type: "text", text: turn.text }]);
      },
    );

    test.each(["text/plain", "application/json", "application/octet-stream"])(
      "a stream labelled %s is read all the same",
      async (content_type) => {
        expect(textOf(await run([{ text: "fine", content_type }]))).toBe("fine");
      },
    );

    test.each([[true], ["body"]] as const)("P35: a provider that hangs (%s) times out", async (hang) => {
      const parts = await run([{ text: "never to be completed", hang }], { timeoutSeconds: 5 });
      expect(failureOf(parts)).toMatchObject({ code: "LLMTimeoutError", isRetryable: true });
      expect(failureOf(parts).detail).toContain("5 s");
    });

    test("P35: a slow provider that keeps sending does not time out", async () => {
      // The clock runs 200 times faster: 10 ms between pieces are 2 s, with 10 s allowed.
      const turn = { text: "drop by drop, slowly, but surely", chunk_size: 3, chunk_delay_ms: 10 };
      expect(textOf(await run([turn], { timeoutSeconds: 10 }))).toBe(turn.text);
    });

    test("abort before the request sends nothing", async () => {
      const model = await start([{ text: "no" }]);
      const parts = await collect(model, undefined, AbortSignal.abort());
      expect(parts).toEqual([{ type: "aborted" }]);
      expect(server?.requests).toHaveLength(0);
    });

    test("abort in mid stream ends it at once", async () => {
      const model = await start([{ text: "a long story that hangs", hang: "body", chunk_size: 2 }]);
      const stop = new AbortController();
      const types: string[] = [];
      for await (const part of model.stream(requestOf([userMessage("Go.")]), stop.signal)) {
        types.push(part.type);
        if (part.type === "text") stop.abort();
      }
      expect(types).toEqual(["text", "aborted"]);
    });

    test("abort while waiting for a retry ends it at once", async () => {
      const model = await start([{ error: { status: 429, retry_after: "300" } }], { attempts: 5 });
      const stop = new AbortController();
      const types: string[] = [];
      for await (const part of model.stream(requestOf([userMessage("Go.")]), stop.signal)) {
        types.push(part.type);
        if (part.type === "retry") setImmediate(() => stop.abort());
      }
      expect(types).toEqual(["retry", "aborted"]);
      expect(server?.requests).toHaveLength(1);
    });

    test("P13: the key is in no error, however the provider echoes it", async () => {
      const echo = `bad key ${apiKey} (${Buffer.from(apiKey).toString("base64")}) of sk-live-abcdefghijklmnop`;
      for (const status of [400, 401, 500]) {
        const parts = await run([{ error: { status, message: echo } }]);
        const said = JSON.stringify(parts);
        expect(said).toContain("bad key ***");
        for (const secret of [apiKey, Buffer.from(apiKey).toString("base64"), "abcdefghijklmnop"]) {
          expect(said).not.toContain(secret);
        }
        await server?.[Symbol.asyncDispose]();
      }
    });

    test("usage counts cached tokens inside the prompt, and costs what the prices say", async () => {
      const usage = {
        prompt_tokens: 1000,
        completion_tokens: 10,
        cache_read_tokens: 700,
        cache_write_tokens: 200,
      };
      const done = doneOf(await run([{ text: "ok", usage }]));
      expect(done.usage).toMatchObject({
        promptTokens: 1000,
        completionTokens: 10,
        cacheReadTokens: 700,
        cacheWriteTokens: 200,
      });
      expect(done.usage.contextWindow).toBeGreaterThan(100_000);
      expect(done.usage.cost).toBeGreaterThan(0);
    });

    test("images of users and of tools are sent", async () => {
      const model = await start([{ text: "seen" }]);
      const image = { type: "image" as const, image_urls: ["data:image/png;base64,iVBORw0KGgo="] };
      const user: ModelMessage = { role: "user", content: [{ type: "text", text: "Look:" }, image] };
      const call = { id: "call_A", name: "look", arguments: "{}", origin: "completion" as const };
      const said: AssistantMessage = { ...silent, toolCalls: [call] };
      const shown: ModelMessage = { role: "tool", toolCallId: "call_A", name: "look", content: [image] };
      doneOf(await collect(model, [user, said, shown]));
      expect(server?.requests[0]?.text.match(/iVBORw0KGgo=/gu)).toHaveLength(2);
    });

    test("L27: one result per call, never empty, also for messages without content", async () => {
      const model = await start([{ text: "fine" }]);
      const calls = ["call_A", "call_B"].map((id) => ({
        id,
        name: "look",
        arguments: "{}",
        origin: "completion" as const,
      }));
      const messages: ModelMessage[] = [
        { role: "system", content: [{ type: "text", text: "Be brief." }] },
        { role: "user", content: [] },
        { ...silent, toolCalls: calls },
        { role: "tool", toolCallId: "call_A", name: "look", content: [] },
        {
          role: "tool",
          toolCallId: "call_B",
          name: "look",
          content: [
            { type: "text", text: "one" },
            { type: "text", text: "two" },
          ],
        },
        silent,
        userMessage("And?"),
      ];
      doneOf(await collect(model, messages));
      const text = server?.requests[0]?.text ?? "";
      expect(text).not.toMatch(/"(?:content|text)":(?:""|\[\])/u);
      expect(text.match(/"(?:tool_call_id|tool_use_id)":"call_A"/gu)).toHaveLength(1);
      expect(text.match(/"(?:tool_call_id|tool_use_id)":"call_B"/gu)).toHaveLength(1);
    });

    test("the same history gives the same bytes, and more history only adds", async () => {
      const model = await start({ turns: [{ text: "ok" }], loop: true });
      const history = [
        userMessage("One."),
        { ...silent, content: [{ type: "text" as const, text: "Two." }] },
      ];
      await collect(model, [...history, userMessage("Three.")]);
      await collect(model, [...history, userMessage("Three.")]);
      expect(server?.requests[0]?.text).toBe(server?.requests[1]?.text);
    });
  });
}

const silent: AssistantMessage = {
  role: "assistant",
  content: [],
  toolCalls: [],
  reasoningContent: null,
  thinkingBlocks: [],
  reasoningItem: null,
};

function userMessage(text: string): ModelMessage {
  return { role: "user", content: [{ type: "text", text }] };
}

function toolResult(toolCallId: string, name: string, text: string): ModelMessage {
  return { role: "tool", toolCallId, name, content: [{ type: "text", text }] };
}

function requestOf(messages: readonly ModelMessage[]): ModelRequest {
  const parameters = { type: "object", properties: { path: { type: "string" } } };
  return {
    messages,
    tools: [{ name: "look", description: "Looks.", parameters }],
    cacheKey: "conversation-1",
  };
}

async function collect(
  model: Model,
  messages: readonly ModelMessage[] = [userMessage("Go.")],
  signal: AbortSignal = new AbortController().signal,
): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const part of model.stream(requestOf(messages), signal)) parts.push(part);
  return parts;
}

function doneOf(parts: readonly ModelPart[]): ModelResponse {
  const last = parts.at(-1);
  if (last?.type !== "done") throw new Error(`The stream ended with ${JSON.stringify(last)}`);
  return last.response;
}

function failureOf(parts: readonly ModelPart[]): Extract<ModelPart, { type: "failed" }>["error"] {
  const last = parts.at(-1);
  if (last?.type !== "failed") throw new Error(`The stream ended with ${JSON.stringify(last)}`);
  return last.error;
}

function textOf(parts: readonly ModelPart[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function argumentsOf(parts: readonly ModelPart[], index: number): string {
  return parts
    .map((part) => (part.type === "tool-arguments" && part.index === index ? part.text : ""))
    .join("");
}
