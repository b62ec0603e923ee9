import type { LLM } from "@convoke/protocol";
import { describe, expect, test } from "vitest";
import { createFastModelClock } from "./clock.ts";
import { collect, doneOf, failureOf } from "./contract-bench.ts";
import type { ModelPart } from "./model.ts";
import { openModel } from "./open-model.ts";

/** Answers of servers that are only compatible: whatever they send, what is stored has the documented types. */
const chat: LLM = { model: "openai/gpt-4.1", base_url: "http://model.example/v1" };
const claude: LLM = { model: "anthropic/claude-sonnet-4-5", base_url: "http://model.example" };
const responses: LLM = { model: "openai_responses/gpt-5", base_url: "http://model.example/v1" };

async function ask(llm: LLM, answer: unknown): Promise<ModelPart[]> {
  const isText = typeof answer === "string";
  const type = isText ? "text/event-stream" : "application/json";
  const send = (): Promise<Response> =>
    Promise.resolve(
      new Response(isText ? answer : JSON.stringify(answer), { headers: { "content-type": type } }),
    );
  const model = openModel(
    { ...llm, api_key: "key-of-a-test", num_retries: 1 },
    { send, clock: createFastModelClock(200) },
  );
  return await collect(model);
}

const usageOf = async (llm: LLM, answer: unknown): Promise<unknown> => {
  const { usage } = doneOf(await ask(llm, answer));
  const { promptTokens, completionTokens, cacheReadTokens } = usage;
  return [promptTokens, completionTokens, cacheReadTokens];
};

const chatAnswer = (message: object, more: object = {}): object => ({
  id: "a",
  choices: [{ index: 0, message, finish_reason: "stop" }],
  ...more,
});
const chatCall = (more: object): object => ({
  id: "call_a",
  type: "function",
  function: { name: "look", arguments: '{"path":"/a"}' },
  ...more,
});
const blocks = (content: unknown, more: object = {}): object => ({
  id: "m",
  content,
  stop_reason: "end_turn",
  ...more,
});
const output = (items: unknown, more: object = {}): object => ({
  id: "r",
  status: "completed",
  output: items,
  ...more,
});
const events = (...all: object[]): string =>
  all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

describe("counts", () => {
  const odd = { input_tokens: "12", output_tokens: "5" };
  const text = { role: "assistant", content: "hi" };
  const items = [{ type: "message", content: [{ type: "output_text", text: "hi" }] }];

  test("that are texts count as numbers", async () => {
    const usage = {
      prompt_tokens: "12",
      completion_tokens: "5",
      prompt_tokens_details: { cached_tokens: "3" },
    };
    expect(await usageOf(chat, chatAnswer(text, { usage }))).toEqual([12, 5, 3]);
    const cached = { ...odd, cache_read_input_tokens: "3" };
    expect(await usageOf(claude, blocks([{ type: "text", text: "hi" }], { usage: cached }))).toEqual([
      15, 5, 3,
    ]);
    expect(await usageOf(responses, output(items, { usage: odd }))).toEqual([12, 5, 0]);
  });

  test.each([[-5], [1e308], ["many"], [{ total: 4 }], [null], [true]])(
    "that are none, such as %j, count as nothing",
    async (count) => {
      const usage = { prompt_tokens: count, completion_tokens: count, cost: count === true ? -3 : count };
      const done = doneOf(await ask(chat, chatAnswer(text, { usage })));
      expect(done.usage).toMatchObject({ promptTokens: 0, completionTokens: 0, cost: 0 });
      const counts = { input_tokens: count, output_tokens: count };
      expect(await usageOf(claude, blocks([{ type: "text", text: "hi" }], { usage: counts }))).toEqual([
        0, 0, 0,
      ]);
      expect(await usageOf(responses, output(items, { usage: counts }))).toEqual([0, 0, 0]);
    },
  );
});

describe("texts, ids and names", () => {
  test("of other types are texts on the chat wire", async () => {
    const call = chatCall({ id: 17 });
    const { id, model, message } = doneOf(
      await ask(chat, chatAnswer({ content: 42, tool_calls: [null, call] }, { id: 7, model: 9 })),
    );
    expect([id, model]).toEqual(["7", "9"]);
    expect(message).toMatchObject({
      content: [{ type: "text", text: "42" }],
      toolCalls: [{ id: "17", name: "look", arguments: '{"path":"/a"}' }],
    });
  });

  test("of other types are texts on the Anthropic wire", async () => {
    const content = [
      null,
      { type: "thinking", thinking: null, signature: 4 },
      { type: "text", text: 42 },
      { type: "tool_use", id: 5, name: "look", input: '{"path":"/a"}' },
    ];
    const { message } = doneOf(await ask(claude, blocks(content)));
    expect(message).toMatchObject({
      content: [{ type: "text", text: "42" }],
      toolCalls: [{ id: "5", name: "look", arguments: '{"path":"/a"}' }],
      thinkingBlocks: [{ type: "thinking", thinking: "", signature: "4" }],
    });
  });

  test("of other types are texts on the responses wire", async () => {
    const items = [
      null,
      { type: "reasoning", id: 5, summary: "hm" },
      { type: "message", content: "hello" },
      { type: "function_call", call_id: 3, name: "look", arguments: { path: "/a" } },
    ];
    const { message } = doneOf(await ask(responses, output(items)));
    expect(message).toMatchObject({
      content: [{ type: "text", text: "hello" }],
      toolCalls: [{ id: "3", name: "look", arguments: '{"path":"/a"}' }],
      reasoningContent: "hm",
    });
  });

  test("of a message are one where content is a text, an object or parts", async () => {
    const textOf = async (content: unknown): Promise<unknown> =>
      doneOf(await ask(chat, chatAnswer({ content }))).message.content[0]?.text;
    expect(await textOf({ text: "hello" })).toBe("hello");
    expect(await textOf([{ type: "text", text: "hel" }, null, "lo", { type: "image_url" }])).toBe("hello");
    expect(doneOf(await ask(claude, blocks("hello"))).message.content[0]?.text).toBe("hello");
  });
});

describe("nothing is lost or joined", () => {
  test("two calls of one id in a whole message are two", async () => {
    const second = chatCall({ function: { name: "look", arguments: '{"path":"/b"}' } });
    const { message } = doneOf(await ask(chat, chatAnswer({ tool_calls: [chatCall({}), second] })));
    expect(message.toolCalls.map((call) => call.arguments)).toEqual(['{"path":"/a"}', '{"path":"/b"}']);
    expect(new Set(message.toolCalls.map(({ id }) => id)).size).toBe(2);
  });

  test("one of several choices is read", async () => {
    const part = (index: number, content: string, finish_reason: string | null): object => ({
      choices: [{ index, delta: { content }, finish_reason }],
    });
    const stream = events(
      part(0, "one", null),
      part(1, "two", null),
      part(1, "", "stop"),
      part(0, "!", "stop"),
    );
    expect(doneOf(await ask(chat, `${stream}data: [DONE]\n\n`)).message.content).toEqual([
      { type: "text", text: "one!" },
    ]);
  });

  test("text without a start of its block, and a block at an index that is taken", async () => {
    const begin = (content_block: object): object => ({
      type: "content_block_start",
      index: 0,
      content_block,
    });
    const stream = events(
      { type: "message_start", message: { id: "m" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "one" } },
      begin({ type: "text", text: "two" }),
      begin({ type: "tool_use", id: "t", name: "look", input: { path: "/a" } }),
      { type: "message_stop" },
    );
    expect(doneOf(await ask(claude, stream)).message).toMatchObject({
      content: [{ type: "text", text: "onetwo" }],
      toolCalls: [{ id: "t", name: "look", arguments: '{"path":"/a"}' }],
    });
  });

  test("items that are only streamed by their parts", async () => {
    const call = { type: "function_call", call_id: "c", name: "look", arguments: "" };
    const delta = (type: string, output_index: number, text: string): object => ({
      type: `response.${type}.delta`,
      output_index,
      delta: text,
    });
    const stream = events(
      delta("output_text", 0, "Let me "),
      delta("output_text", 0, "look."),
      { type: "response.output_item.added", output_index: 1, item: call },
      delta("function_call_arguments", 1, '{"path":"/a"}'),
      { type: "response.completed", response: { id: "r" } },
    );
    expect(doneOf(await ask(responses, stream)).message).toMatchObject({
      content: [{ type: "text", text: "Let me look." }],
      toolCalls: [{ id: "c", name: "look", arguments: '{"path":"/a"}' }],
    });
  });
});

describe("errors inside an answer", () => {
  test("an answer that is nested too deeply is no answer, in plain words", async () => {
    const gemini: LLM = { model: "gemini/gemini-2.5-pro", base_url: "http://model.example/v1beta" };
    const args = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    const part = `{"functionCall":{"name":"look","args":${args}}}`;
    const stream = `data: {"candidates":[{"content":{"parts":[${part}]},"finishReason":"STOP"}]}\n\n`;
    const { code, detail } = failureOf(await ask(gemini, stream));
    expect([code, detail]).toEqual([
      "LLMServiceUnavailableError",
      expect.stringContaining("does not have the form of an answer"),
    ]);
  });

  test("a field `error` that says nothing is no error", async () => {
    for (const error of [false, {}, "", 0, null]) {
      expect(doneOf(await ask(chat, chatAnswer({ content: "hi" }, { error }))).message.content).toHaveLength(
        1,
      );
    }
  });

  test("values that say nothing keep the connection open", async () => {
    const chunk = { choices: [{ delta: { content: "hi" }, finish_reason: "stop" }] };
    const stream = `data: null\n\ndata: 5\n\ndata: []\n\n${events(chunk)}data: [DONE]\n\n`;
    expect(doneOf(await ask(chat, stream)).message.content).toEqual([{ type: "text", text: "hi" }]);
  });

  test.each([
    ["detail", { detail: "Model is loading." }],
    ["message", { object: "error", message: "Model is loading.", code: 40_303 }],
    ["error", { error: "Model is loading." }],
  ])("the server's words reach the person from `%s` with status 200", async (_, answer) => {
    for (const llm of [chat, claude, responses]) {
      expect(failureOf(await ask(llm, answer)).detail).toContain("Model is loading.");
    }
  });
});
