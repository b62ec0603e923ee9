import { afterEach, describe, expect, test } from "vitest";
import {
  collect,
  ContractBench,
  argumentsOf,
  doneOf,
  silent,
  textOf,
  toolResult,
  userMessage,
  type OpenContractModel,
} from "./contract-bench.ts";
import { testFailures } from "./contract-failures.ts";
import type { AssistantMessage, ModelMessage } from "./model.ts";

/** How a backend's wire differs where the suite inspects requests. */
export type ContractWire = {
  /** Tool calls of assistant messages in a recorded body, arguments as JSON text. */
  replayedCalls(body: Readonly<Record<string, unknown>>): { id: string; name: string; arguments: string }[];
  /** Ids of the calls whose results are in a recorded body, in order. */
  results(body: Readonly<Record<string, unknown>>): string[];
  /** False where the protocol turns argument text into an object. */
  readonly isTextReplayed: boolean;
  /** False where arguments are objects in answers as well: their text is what we make of them. */
  readonly isTextAnswered: boolean;
  /** False where a streaming request has an address of its own. */
  readonly mayIgnoreStreaming: boolean;
  /** True where an answer is frames, not lines. */
  readonly isBinary?: boolean;
  /** False where the protocol does not tell what was written to a cache. */
  readonly reportsCacheWrites: boolean;
  readonly hasThinkingBlocks: boolean;
};

const canary = JSON.stringify({ path: "/a", text: "ü 漢字 🧪 \u0007\n", number: 1.5, list: [1, "2", null] });

/** The suite every backend passes, against the scripted model over HTTP in that backend's wire. */
export function describeModel(name: string, open: OpenContractModel, wire: ContractWire): void {
  describe(name, () => {
    const bench = new ContractBench(open);
    afterEach(() => bench.stop());
    testAnswers(bench, wire);
    testFailures(bench, wire);
  });
}

function testAnswers(bench: ContractBench, wire: ContractWire): void {
  test("text is streamed and returned whole", async () => {
    const text = "Grüße, 漢字 and 🧪 across pieces.";
    const parts = await bench.run([
      { text, chunk_size: 3, usage: { prompt_tokens: 100, completion_tokens: 7 } },
    ]);
    const done = doneOf(parts);
    expect(textOf(parts)).toBe(text);
    expect({ ...done.message, replay: undefined }).toEqual({
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

  test.runIf(wire.mayIgnoreStreaming)("a server that ignores streaming is understood", async () => {
    const turn = { reasoning: "hm", text: "plain", tool_calls: [{ name: "look", arguments: { at: "b" } }] };
    const parts = await bench.run([{ ...turn, plain_json: true }]);
    expect(textOf(parts)).toBe("plain");
    expect(doneOf(parts).message).toMatchObject({
      content: [{ type: "text", text: "plain" }],
      reasoningContent: "hm",
      toolCalls: [{ id: "call-1-1", name: "look", arguments: '{"at":"b"}' }],
    });
  });

  test("parallel tool calls keep their order, ids and argument text", async () => {
    const calls = [
      { name: "first", arguments: canary, id: "call_A" },
      {
        name: "second",
        arguments: wire.isTextAnswered ? '{ "spaced" :  1.0 }' : '{"spaced":1.5}',
        id: "call_B",
      },
      { name: "third", arguments: "{}", id: "call_C" },
    ];
    const parts = await bench.run([{ text: "Now:", tool_calls: calls, chunk_size: 2 }]);
    expect(doneOf(parts).message.toolCalls).toMatchObject(
      calls.map(({ name, arguments: text, id }) => ({ id, name, arguments: text })),
    );
    const shown = calls.map((_, index) => argumentsOf(parts, index));
    expect(shown).toEqual(calls.map((call) => call.arguments));
  });

  test("a tool call without arguments is an empty object", async () => {
    const parts = await bench.run([{ tool_calls: [{ name: "bare", arguments: "" }] }]);
    expect(doneOf(parts).message.toolCalls).toMatchObject([{ name: "bare", arguments: "{}" }]);
  });

  test("L23.33: a call is replayed byte for byte, with its result", async () => {
    const turns = [
      { text: " ", tool_calls: [{ name: "look", arguments: canary, id: "call_A" }] },
      { text: "ok" },
    ];
    const model = await bench.start(turns);
    const { message } = doneOf(await collect(model));
    const result = toolResult("call_A", "look", "");
    doneOf(await collect(model, [userMessage("Go."), message, result]));
    const recorded = bench.requests[1];
    expect(recorded?.turn).toBe(1);
    expect(wire.replayedCalls(recorded?.body ?? {})).toEqual([
      { id: "call_A", name: "look", arguments: canary },
    ]);
    expect(recorded?.text).not.toContain('"content":""');
  });

  test.runIf(wire.isTextAnswered)(
    "P12: broken arguments in the history do not break the request",
    async () => {
      const broken = '{"path": "/a", "text": "unfin';
      const turns = [{ tool_calls: [{ name: "look", arguments: broken, id: "call_A" }] }, { text: "ok" }];
      const model = await bench.start(turns);
      const { message } = doneOf(await collect(model));
      expect(message.toolCalls[0]?.arguments).toBe(broken);
      doneOf(await collect(model, [userMessage("Go."), message, toolResult("call_A", "look", "bad JSON")]));
      expect(wire.replayedCalls(bench.requests[1]?.body ?? {})).toEqual([
        { id: "call_A", name: "look", arguments: wire.isTextReplayed ? broken : "{}" },
      ]);
    },
  );

  test("arguments of 1 MB arrive whole", async () => {
    const text = JSON.stringify({ content: "x漢".repeat(350_000) });
    const parts = await bench.run([{ tool_calls: [{ name: "write", arguments: text }] }]);
    expect(doneOf(parts).message.toolCalls[0]?.arguments === text).toBe(true);
  });

  test("an answer cut into single bytes is the same answer", async () => {
    const turn = { reasoning: "denk — ", text: "ü漢🧪", tool_calls: [{ name: "a", arguments: canary }] };
    const whole = doneOf(await bench.run([turn]));
    await bench.stop();
    const cut = doneOf(await bench.run([{ ...turn, write_bytes: 1, chunk_size: 5 }]));
    expect({ ...cut, latencyMs: 0 }).toEqual({ ...whole, latencyMs: 0 });
  });

  test("reasoning alone is an answer", async () => {
    const parts = await bench.run([{ reasoning: "only thoughts", signature: "c2ln" }]);
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

  test("an answer that hits the output limit says so", async () => {
    expect(doneOf(await bench.run([{ text: "half a sen", finish_reason: "length" }])).isTruncated).toBe(true);
  });

  test.each(["text/plain", "application/json", "application/octet-stream"])(
    "a stream labelled %s is read all the same",
    async (content_type) => {
      expect(textOf(await bench.run([{ text: "fine", content_type }]))).toBe("fine");
    },
  );

  test("usage counts cached tokens inside the prompt, and costs what the prices say", async () => {
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 10,
      cache_read_tokens: 700,
      cache_write_tokens: 200,
    };
    const done = doneOf(await bench.run([{ text: "ok", usage }]));
    expect(done.usage).toMatchObject({
      promptTokens: 1000,
      completionTokens: 10,
      cacheReadTokens: 700,
      cacheWriteTokens: wire.reportsCacheWrites ? 200 : 0,
    });
    expect(done.usage.contextWindow).toBeGreaterThan(100_000);
    expect(done.usage.cost).toBeGreaterThan(0);
  });

  test("images of users and of tools are sent", async () => {
    const model = await bench.start([{ text: "seen" }]);
    const image = { type: "image" as const, image_urls: ["data:image/png;base64,iVBORw0KGgo="] };
    const user: ModelMessage = { role: "user", content: [{ type: "text", text: "Look:" }, image] };
    const call = { id: "call_A", name: "look", arguments: "{}", origin: "completion" as const };
    const answered: AssistantMessage = { ...silent, toolCalls: [call] };
    const shown: ModelMessage = { role: "tool", toolCallId: "call_A", name: "look", content: [image] };
    doneOf(await collect(model, [user, answered, shown]));
    expect(bench.requests[0]?.text.match(/iVBORw0KGgo=/gu)).toHaveLength(2);
  });

  test("L23.27: one result per call, never empty, also for messages without content", async () => {
    const model = await bench.start([{ text: "fine" }]);
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
    const text = bench.requests[0]?.text ?? "";
    expect(text).not.toMatch(/"(?:content|text)":(?:""|\[\])/u);
    expect(wire.results(bench.requests[0]?.body ?? {})).toEqual(["call_A", "call_B"]);
  });

  test("the same history gives the same bytes, and more history only adds", async () => {
    const model = await bench.start({ turns: [{ text: "ok" }], loop: true });
    const history = [userMessage("One."), { ...silent, content: [{ type: "text" as const, text: "Two." }] }];
    await collect(model, [...history, userMessage("Three.")]);
    await collect(model, [...history, userMessage("Three.")]);
    expect(bench.requests[0]?.text).toBe(bench.requests[1]?.text);
  });
}
