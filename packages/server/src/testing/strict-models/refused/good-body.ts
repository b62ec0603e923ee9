import type { Played } from "../../scripted-model/script-player.ts";
import type { WireName } from "../../scripted-model/wire.ts";
import type { StrictProvider } from "../strict-provider.ts";
import { at, type Body } from "./edit-body.ts";

const schema = { type: "object", properties: { path: { type: "string" } } };

/** Those that want back what was thought, in a field of the message. */
const thinking = ["deepseek", "deepseek-alias", "mimo", "moonshot", "dashscope", "glm"];

/** The second request of a conversation as its provider wants it: what it said goes back exactly as it came. */
export function goodBody(provider: StrictProvider): Body {
  const id = provider.toCallId("0123456789abcdef0123456789abcdef", "look", 0);
  return bodies[provider.wire.name](provider, answerOf(provider, id), id);
}

const bodies: Readonly<Record<WireName, (provider: StrictProvider, reply: unknown, id: string) => Body>> = {
  "openai-chat": ({ models }, reply, id) => ({
    model: models[0],
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Go." },
      at(reply, "choices.0.message"),
      { role: "tool", tool_call_id: id, content: "seen" },
    ],
    tools: [{ type: "function", function: { name: "look", description: "Looks.", parameters: schema } }],
    stream: true,
  }),
  "openai-responses": ({ models }, reply, id) => ({
    model: models[0],
    input: [
      { type: "message", role: "user", content: [{ type: "input_text", text: "Go." }] },
      ...(at(reply, "output") as unknown[]),
      { type: "function_call_output", call_id: id, output: "seen" },
    ],
    tools: [{ type: "function", name: "look", description: "Looks.", parameters: schema, strict: false }],
    store: false,
    stream: true,
  }),
  anthropic: ({ models }, reply, id) => ({
    model: models[0],
    max_tokens: 1000,
    system: [{ type: "text", text: "Be brief." }],
    messages: [
      { role: "user", content: [{ type: "text", text: "Go." }] },
      { role: "assistant", content: at(reply, "content") },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: id, content: [{ type: "text", text: "seen" }] }],
      },
    ],
    tools: [{ name: "look", description: "Looks.", input_schema: schema }],
    stream: true,
  }),
  google: (_provider, reply, id) => ({
    contents: [
      { role: "user", parts: [{ text: "Go." }] },
      at(reply, "candidates.0.content"),
      { role: "user", parts: [{ functionResponse: { id, name: "look", response: { content: "seen" } } }] },
    ],
    tools: [{ functionDeclarations: [{ name: "look", description: "Looks.", parameters: schema }] }],
  }),
  bedrock: (_provider, reply, id) => ({
    messages: [
      { role: "user", content: [{ text: "Go." }] },
      at(reply, "output.message"),
      {
        role: "user",
        content: [{ toolResult: { toolUseId: id, content: [{ text: "seen" }], status: "success" } }],
      },
    ],
    toolConfig: {
      tools: [{ toolSpec: { name: "look", description: "Looks.", inputSchema: { json: schema } } }],
    },
  }),
};

function answerOf(provider: StrictProvider, id: string): unknown {
  const played: Played = {
    index: 0,
    turn: {},
    answer: {
      id: "answer-1",
      text: "I will have a look.",
      reasoning: thinking.includes(provider.name) || provider.wire.name !== "openai-chat" ? "Hm." : "",
      toolCalls: [{ id, name: "look", arguments: '{"path":"/a"}' }],
      usage: {
        prompt_tokens: 1,
        completion_tokens: 1,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        reasoning_tokens: 0,
      },
    },
  };
  const model = provider.models[0] ?? "";
  return structuredClone(provider.wire.toJson(provider.adorn?.(played) ?? played, model));
}
