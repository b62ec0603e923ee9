import type { LLM } from "@convoke/protocol";
import { describe, expect, test } from "vitest";
import { buildMessagesRequest } from "./anthropic-request.ts";
import type { AssistantMessage, ModelMessage } from "../model.ts";
import { readModelSettings } from "../model-settings.ts";

function build(llm: LLM, messages: readonly ModelMessage[], refused: readonly string[] = []) {
  const request = { messages, tools: [], cacheKey: "conversation-1" };
  return buildMessagesRequest(request, readModelSettings(llm), new Set(refused));
}

const plain: LLM = {
  model: "anthropic/claude-sonnet-4-5",
  extended_thinking_budget: null,
  caching_prompt: false,
};
const user = (text: string): ModelMessage => ({ role: "user", content: [{ type: "text", text }] });
const result = (toolCallId: string, text: string): ModelMessage => ({
  role: "tool",
  toolCallId,
  name: "look",
  content: [{ type: "text", text }],
});
const calling: AssistantMessage = {
  role: "assistant",
  content: [{ type: "text", text: "Now." }],
  toolCalls: [
    {
      id: "functions.look:0",
      name: "look",
      arguments: '{"n": 1.0, "big": 12345678901234567890}',
      origin: "completion",
    },
    { id: "call_B", name: "look", arguments: "oops", origin: "completion" },
  ],
  reasoningContent: "hm",
  thinkingBlocks: [
    { type: "thinking", thinking: "hm", signature: "c2ln/+=" },
    { type: "redacted_thinking", data: "c2VhbGVk" },
    { type: "thinking", thinking: "foreign", signature: null },
  ],
  reasoningItem: null,
};

describe("messages request", () => {
  test("turns alternate, results come first, thinking and numbers return exactly", () => {
    const { body } = build(plain, [
      { role: "system", content: [{ type: "text", text: "Be brief." }] },
      user("One."),
      user("Two."),
      calling,
      user("Interjection."),
      result("functions.look:0", "a"),
      result("call_B", ""),
    ]);
    expect(body).toMatchObject({
      max_tokens: 64_000,
      system: [{ type: "text", text: "Be brief." }],
      stream: true,
    });
    expect(JSON.stringify(body.messages)).toBe(
      JSON.stringify([
        {
          role: "user",
          content: [
            { type: "text", text: "One." },
            { type: "text", text: "Two." },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "c2ln/+=" },
            { type: "redacted_thinking", data: "c2VhbGVk" },
            { type: "text", text: "Now." },
            { type: "tool_use", id: "functions_look_0", name: "look", input: { n: "N", big: "B" } },
            { type: "tool_use", id: "call_B", name: "look", input: {} },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "functions_look_0", content: [{ type: "text", text: "a" }] },
            { type: "tool_result", tool_use_id: "call_B", content: [{ type: "text", text: "(no output)" }] },
            { type: "text", text: "Interjection." },
          ],
        },
      ])
        .replace('"N"', "1.0")
        .replace('"B"', "12345678901234567890"),
    );
  });

  test("P12: broken arguments are sent as an empty object", () => {
    expect(JSON.stringify(build(plain, [user("Go."), calling]).body)).toContain(
      '"id":"call_B","name":"look","input":{}',
    );
  });

  test("cache marks are on the first system block and the last two inputs", () => {
    const system: ModelMessage = {
      role: "system",
      content: [
        { type: "text", text: "Shared." },
        { type: "text", text: "Own." },
      ],
    };
    const messages = [system, user("One."), calling, result("functions.look:0", "a"), result("call_B", "b")];
    const text = JSON.stringify(build({ ...plain, caching_prompt: true }, messages).body);
    const mark = '"cache_control":{"type":"ephemeral"}';
    expect(text).toContain(`"text":"Shared.",${mark}`);
    expect(text).toContain(`"text":"One.",${mark}`);
    expect(text).toContain(`[{"type":"text","text":"b"}],${mark}`);
    expect(text.split(mark)).toHaveLength(4);
    expect(
      JSON.stringify(build({ ...plain, caching_prompt: true }, messages, ["cache_control"]).body),
    ).not.toContain(mark);
  });

  test.each([
    ["claude-sonnet-4-5", { type: "enabled", budget_tokens: 63_999 }],
    ["claude-3-7-sonnet-20250219", { type: "enabled", budget_tokens: 63_999 }],
    ["claude-opus-4-7", { type: "adaptive", display: "summarized" }],
    ["claude-opus-5", { type: "adaptive", display: "summarized" }],
    ["claude-3-5-haiku-20241022", undefined],
    ["kimi-k2.6", undefined],
  ])("%s thinks its own way", (model, thinking) => {
    const { body, betas } = build({ model: `anthropic/${model}`, temperature: 0.3 }, [user("Go.")]);
    expect(body.thinking).toEqual(thinking);
    expect((body as { temperature?: number }).temperature).toBe(thinking === undefined ? 0.3 : undefined);
    expect(betas).toEqual(thinking?.type === "enabled" ? ["interleaved-thinking-2025-05-14"] : []);
  });

  test("thinking does not begin in the middle of a tool loop", () => {
    const llm = { model: "anthropic/claude-sonnet-4-5" };
    const unthought = { ...calling, thinkingBlocks: [] };
    expect(build(llm, [user("Go."), unthought, result("call_B", "b")]).body.thinking).toBeUndefined();
    expect(build(llm, [user("Go."), calling, result("call_B", "b")]).body.thinking).toBeDefined();
    expect(
      build(llm, [user("Go."), unthought, result("call_B", "b"), user("Next.")]).body.thinking,
    ).toBeDefined();
  });

  test("effort and none", () => {
    const low = build({ model: "anthropic/claude-opus-4-7", reasoning_effort: "low" }, [user("Go.")]);
    expect(low.body).toMatchObject({ output_config: { effort: "low" } });
    const none = build({ model: "anthropic/claude-opus-4-7", reasoning_effort: "none" }, [user("Go.")]);
    expect(none.body.thinking).toBeUndefined();
  });

  test("images travel inline or by address, and unknown types are named", () => {
    const image_urls = [
      "data:image/jpg;base64,AA==",
      "https://example.org/a.png",
      "data:image/tiff;base64,AA==",
    ];
    const { body } = build(plain, [{ role: "user", content: [{ type: "image", image_urls }] }]);
    expect(body.messages[0]?.content).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/jpeg", data: "AA==" } },
      { type: "image", source: { type: "url", url: "https://example.org/a.png" } },
      { type: "text", text: "[An image of type image/tiff is not supported.]" },
    ]);
  });
});
