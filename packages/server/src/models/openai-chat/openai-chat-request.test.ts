import type { LLM } from "@convoke/protocol";
import { describe, expect, test } from "vitest";
import { addressOf } from "../address/address.ts";
import { startingRules } from "../address/address-rules.ts";
import { withExtra } from "../address/fit-extra.ts";
import type { AssistantMessage, ModelMessage } from "../model.ts";
import { readModelSettings } from "../model-settings.ts";
import { buildChatRequest } from "./openai-chat-request.ts";

const user: ModelMessage = { role: "user", content: [{ type: "text", text: "Hello" }] };
const tool = { name: "look", description: "Looks.", parameters: { type: "object" } };

function bodyOf(
  llm: LLM,
  messages: readonly ModelMessage[] = [user],
  refused: readonly string[] = [],
): unknown {
  const request = { messages, tools: [tool], cacheKey: "conversation-1" };
  const settings = readModelSettings(llm);
  const [rules, address] = [startingRules(settings.route), addressOf(settings.route)];
  const fitted = messages.map((one) => (one.role === "assistant" ? withExtra(one, rules, address) : one));
  return buildChatRequest({ ...request, messages: fitted }, settings, new Set(refused)).body;
}

const assistant: AssistantMessage = {
  role: "assistant",
  content: [],
  toolCalls: [],
  reasoningContent: null,
  thinkingBlocks: [],
  reasoningItem: null,
};

describe("chat request", () => {
  test("OpenAI itself gets its own fields", () => {
    expect(bodyOf({ model: "openai/gpt-5", max_output_tokens: 500, temperature: 0.5, top_k: 3 })).toEqual({
      model: "gpt-5",
      messages: [{ role: "user", content: "Hello" }],
      tools: [{ type: "function", function: tool }],
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 500,
      reasoning_effort: "high",
      prompt_cache_key: "conversation-1",
      prompt_cache_retention: "24h",
    });
  });

  test("other servers get the older fields, and sampling as configured", () => {
    const llm = {
      model: "openai/my-model",
      base_url: "http://localhost:8000/v1",
      temperature: 0.5,
      top_p: 0.9,
    };
    expect(bodyOf({ ...llm, top_k: 3, seed: 7, max_output_tokens: 500 })).toEqual({
      model: "my-model",
      messages: [{ role: "user", content: "Hello" }],
      tools: [{ type: "function", function: tool }],
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0.5,
      top_p: 0.9,
      top_k: 3,
      seed: 7,
      max_tokens: 500,
    });
  });

  test("a provider with a short default gets its known output limit", () => {
    expect(bodyOf({ model: "moonshot/kimi-k2.6" })).toMatchObject({ max_tokens: 131_072 });
    expect(bodyOf({ model: "openai/gpt-5" })).not.toHaveProperty("max_completion_tokens");
  });

  test("refused fields are left out, and the limit changes its name", () => {
    const llm = { model: "openai/gpt-4.1", temperature: 0.5, max_output_tokens: 9 };
    const body = bodyOf(llm, [user], ["temperature", "max_completion_tokens"]);
    expect(body).toMatchObject({ max_tokens: 9 });
    expect(body).not.toHaveProperty("temperature");
    expect(body).not.toHaveProperty("max_completion_tokens");
  });

  test("extra body fields are added and cannot replace the conversation", () => {
    const extra = { return_token_ids: true, messages: [], stream: false };
    expect(bodyOf({ model: "openai/gpt-4.1", litellm_extra_body: extra })).toMatchObject({
      return_token_ids: true,
      messages: [{ role: "user", content: "Hello" }],
      stream: true,
    });
  });

  test("images of tools follow the whole batch of results", () => {
    const image = { type: "image" as const, image_urls: ["https://example.org/a.png"] };
    const messages: ModelMessage[] = [
      { role: "tool", toolCallId: "a", name: "see", content: [image] },
      { role: "tool", toolCallId: "b", name: "see", content: [{ type: "text", text: "two" }] },
      user,
    ];
    expect(bodyOf({ model: "openai/gpt-4.1" }, messages)).toMatchObject({
      messages: [
        { role: "tool", tool_call_id: "a", content: "(no output)" },
        { role: "tool", tool_call_id: "b", content: "two" },
        {
          role: "user",
          content: [
            { type: "text", text: "Images from see (a):" },
            { type: "image_url", image_url: { url: "https://example.org/a.png" } },
          ],
        },
        { role: "user", content: "Hello" },
      ],
    });
  });

  test("a model that cannot see is told that there was an image", () => {
    const image = { type: "image" as const, image_urls: ["https://example.org/a.png"] };
    const messages: ModelMessage[] = [{ role: "user", content: [image] }];
    expect(bodyOf({ model: "openai/gpt-4.1", disable_vision: true }, messages)).toMatchObject({
      messages: [{ role: "user", content: "[An image is here; this model cannot see images.]" }],
    });
  });

  test("blank text beside tool calls becomes null, and silent turns are left out", () => {
    const call = { id: "a", name: "look", arguments: "{ }", origin: "completion" as const };
    const messages = [
      user,
      { ...assistant, content: [{ type: "text" as const, text: " \n" }], toolCalls: [call] },
      assistant,
    ];
    expect(bodyOf({ model: "openai/gpt-4.1" }, messages)).toMatchObject({
      messages: [
        { role: "user", content: "Hello" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "a", type: "function", function: { name: "look", arguments: "{ }" } }],
        },
      ],
    });
  });

  test("reasoning goes back only to models that need it", () => {
    const messages = [
      user,
      { ...assistant, content: [{ type: "text" as const, text: "Hi" }], reasoningContent: "hm" },
    ];
    const withReasoning = { role: "assistant", content: "Hi", reasoning_content: "hm" };
    expect(bodyOf({ model: "moonshot/kimi-k2-thinking" }, messages)).toMatchObject({
      messages: [{ role: "user" }, withReasoning],
    });
    expect(bodyOf({ model: "openai/gpt-4.1" }, messages)).toMatchObject({
      messages: [{ role: "user" }, { role: "assistant", content: "Hi" }],
    });
    expect(JSON.stringify(bodyOf({ model: "openai/gpt-4.1" }, messages))).not.toContain("hm");
  });

  test("Claude behind a gateway gets two cache marks", () => {
    const system: ModelMessage = {
      role: "system",
      content: [
        { type: "text", text: "Shared." },
        { type: "text", text: "Own." },
      ],
    };
    const llm = { model: "litellm_proxy/claude-sonnet-4-5", base_url: "http://localhost:4000" };
    const mark = { cache_control: { type: "ephemeral" } };
    expect(bodyOf(llm, [system, user])).toMatchObject({
      messages: [
        {
          role: "system",
          content: [
            { type: "text", text: "Shared.", ...mark },
            { type: "text", text: "Own." },
          ],
        },
        { role: "user", content: [{ type: "text", text: "Hello", ...mark }] },
      ],
    });
    expect(JSON.stringify(bodyOf({ ...llm, caching_prompt: false }, [system, user]))).not.toContain(
      "ephemeral",
    );
  });
});
