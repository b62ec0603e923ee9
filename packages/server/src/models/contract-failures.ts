import { expect, test } from "vitest";
import type { ScriptTurn } from "../testing/scripted-model/scripted-model.ts";
import {
  SteppedClock,
  apiKey,
  collect,
  doneOf,
  failureOf,
  requestOf,
  textOf,
  userMessage,
  type ContractBench,
} from "./contract-bench.ts";
import type { ModelPart } from "./model.ts";

const plainHalf: [string, ScriptTurn] = [
  "plain, with broken JSON",
  { text: "some text", half_json: true, plain_json: true },
];

/** The part of the contract suite that is about everything that can go wrong. */
export function testFailures(
  bench: ContractBench,
  { mayIgnoreStreaming, isBinary = false }: { mayIgnoreStreaming: boolean; isBinary?: boolean },
): void {
  test("an answer that ends without a word is an answer, for the agent to react to", async () => {
    const parts = await bench.run([{ text: "" }], { attempts: 2 });
    expect(doneOf(parts).message).toMatchObject({ content: [], toolCalls: [] });
    expect(bench.requests).toHaveLength(1);
  });

  test("no answer at all is tried again and then fails", async () => {
    const parts = await bench.run([{ empty: true }], { attempts: 2 });
    expect(parts.map((part) => part.type)).toEqual(["retry", "failed"]);
    expect(failureOf(parts)).toMatchObject({ code: "LLMNoResponseError", isRetryable: true });
    expect(bench.requests).toHaveLength(2);
  });

  test.each([
    ["{}", "application/json"],
    ["[]", "application/json"],
    ['{"type":"message","content":null}', "application/json"],
    ['{"choices":null,"content":{},"output":null,"candidates":null}', "application/json"],
    ['{"choices":[null],"content":[null],"output":[null],"candidates":[null]}', "application/json"],
    ["data: {}\n\n", "text/event-stream"],
    ["data: null\n\n", "text/event-stream"],
    ["data: []\n\ndata: [DONE]\n\n", "text/event-stream"],
  ])("F17: %s (%s) is no answer: an error of the provider, which is tried again", async (body, type) => {
    const parts = await bench.run([{ raw: { headers: { "content-type": type }, body } }], { attempts: 2 });
    expect(parts.map((part) => part.type)).toEqual(["retry", "failed"]);
    expect(failureOf(parts)).toMatchObject({
      code: expect.stringMatching(/^LLM(NoResponse|ServiceUnavailable)Error$/u),
      isRetryable: true,
    });
    expect(bench.requests).toHaveLength(2);
  });

  test("a blocked answer is a content policy error and is not tried again", async () => {
    const parts = await bench.run([{ text: "I was about to", finish_reason: "content_filter" }], {
      attempts: 3,
    });
    expect(failureOf(parts).code).toBe("LLMContentPolicyViolationError");
    expect(bench.requests).toHaveLength(1);
  });

  test("L23.23, P11: overflow is recognised before any retry", async () => {
    const parts = await bench.run([{ overflow: true }], { attempts: 5 });
    expect(parts.map((part) => part.type)).toEqual(["failed"]);
    expect(failureOf(parts)).toMatchObject({ code: "LLMContextWindowExceedError", isRetryable: false });
    expect(bench.requests).toHaveLength(1);
  });

  test("L23.23: overflow wrapped in a 500 is still overflow", async () => {
    const error = { status: 500, message: "upstream said: prompt is too long: 9 tokens > 8 maximum" };
    const parts = await bench.run([{ error }], { attempts: 5 });
    expect(failureOf(parts).code).toBe("LLMContextWindowExceedError");
    expect(bench.requests).toHaveLength(1);
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
    const parts = await bench.run([{ error: { status, message: "The provider explains." } }]);
    expect(failureOf(parts)).toMatchObject({ code, isRetryable });
    expect(failureOf(parts).detail).toContain("The provider explains.");
  });

  test("P35: a rate limit is waited out for as long as the provider asks", async () => {
    const error = { status: 429, retry_after: "2" };
    const parts = await bench.run([{ error, attempts: 2, text: "at last" }], { attempts: 3 });
    const retries = parts.filter((part) => part.type === "retry");
    expect(retries.map((part) => [part.attempt, part.error.code, part.error.retryAfterMs])).toEqual([
      [1, "LLMRateLimitError", 2000],
      [2, "LLMRateLimitError", 2000],
    ]);
    expect(doneOf(parts).message.content).toEqual([{ type: "text", text: "at last" }]);
  });

  test("P35: attempts are bounded", async () => {
    const parts = await bench.run([{ error: { status: 503 } }], { attempts: 3 });
    expect(parts.map((part) => part.type)).toEqual(["retry", "retry", "failed"]);
    expect(bench.requests).toHaveLength(3);
  });

  const many = `{"x":[${"[],".repeat(300_000)}[]]}`;
  test.each([
    ...(isBinary ? [] : [[`data: ${many}\n\n`, "text/event-stream"]]),
    ...(mayIgnoreStreaming ? [[many, "application/json"]] : []),
  ] as [string, string][])(
    "security 4: an answer of more values than anybody needs is given up before it is parsed: %#",
    async (body, type) => {
      const parts = await bench.run([{ raw: { headers: { "content-type": type }, body } }], { attempts: 2 });
      expect(failureOf(parts).detail).toContain("held more than 200000 values");
    },
  );

  test.each([
    ["cut off", { text: "some text that is never finished", cut_after_bytes: 300 }],
    ["with broken JSON inside", { text: "some text that is never finished", half_json: true }],
    ...(mayIgnoreStreaming ? [plainHalf] : []),
  ] satisfies [string, ScriptTurn][])(
    "L23.19, P35: an answer %s is void and asked for again",
    async (_, turn) => {
      const parts = await bench.run([{ ...turn, attempts: 1 }], { attempts: 2 });
      expect(parts.filter((part) => part.type === "retry").map((part) => part.error.code)).toEqual([
        "LLMServiceUnavailableError",
      ]);
      expect(doneOf(parts).message.content).toEqual([{ type: "text", text: turn.text }]);
    },
  );

  test.each([[true], ["body"]] as const)("P35: a provider that hangs (%s) times out", async (hang) => {
    const parts = await bench.run([{ text: "never to be completed", hang }], { timeoutSeconds: 5 });
    expect(failureOf(parts)).toMatchObject({ code: "LLMTimeoutError", isRetryable: true });
    expect(failureOf(parts).detail).toContain("5 s");
  });

  test("P35: a slow provider that keeps sending does not time out", async () => {
    const clock = new SteppedClock();
    const text = "drop by drop, slowly, but surely";
    const model = await bench.start([{ text, chunk_size: 3, chunk_delay_ms: 1 }], {
      clock,
      timeoutSeconds: 10,
    });
    const parts: ModelPart[] = [];
    for await (const part of model.stream(requestOf([userMessage("Go.")]), new AbortController().signal)) {
      parts.push(part);
      clock.advance(6000);
    }
    expect(textOf(parts)).toBe(text);
    expect(doneOf(parts).latencyMs).toBeGreaterThan(60_000);
  });

  test("abort before the request sends nothing", async () => {
    const model = await bench.start([{ text: "no" }]);
    const parts = await collect(model, undefined, AbortSignal.abort());
    expect(parts).toEqual([{ type: "aborted" }]);
    expect(bench.requests).toHaveLength(0);
  });

  test("abort in mid stream ends it at once", async () => {
    const model = await bench.start([{ text: "a long story that hangs", hang: "body", chunk_size: 2 }]);
    const stop = new AbortController();
    const types: string[] = [];
    for await (const part of model.stream(requestOf([userMessage("Go.")]), stop.signal)) {
      types.push(part.type);
      if (part.type === "text") stop.abort();
    }
    expect(types).toEqual(["text", "aborted"]);
  });

  test("abort while waiting for a retry ends it at once", async () => {
    const model = await bench.start([{ error: { status: 429, retry_after: "300" } }], { attempts: 5 });
    const stop = new AbortController();
    const types: string[] = [];
    for await (const part of model.stream(requestOf([userMessage("Go.")]), stop.signal)) {
      types.push(part.type);
      if (part.type === "retry") setImmediate(() => stop.abort());
    }
    expect(types).toEqual(["retry", "aborted"]);
    expect(bench.requests).toHaveLength(1);
  });

  test("abort before the first byte ends it at once", async () => {
    const model = await bench.start([{ hang: true }]);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 20);
    expect(await collect(model, undefined, stop.signal)).toEqual([{ type: "aborted" }]);
  });

  test("P13: the key is in no error, however the provider echoes it", async () => {
    const echo = `bad key ${apiKey} (${Buffer.from(apiKey).toString("base64")}) of sk-live-abcdefghijklmnop`;
    for (const status of [400, 401, 500]) {
      const parts = await bench.run([{ error: { status, message: echo } }]);
      const json = JSON.stringify(parts);
      expect(json).toContain("bad key ***");
      for (const secret of [apiKey, Buffer.from(apiKey).toString("base64"), "abcdefghijklmnop"]) {
        expect(json).not.toContain(secret);
      }
      await bench.stop();
    }
  });
}
