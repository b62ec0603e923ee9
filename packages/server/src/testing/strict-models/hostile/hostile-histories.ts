import { silent, toolResult, userMessage } from "../../../models/contract-bench.ts";
import type { AssistantMessage, ModelMessage } from "../../../models/model.ts";

const half = "x\ud83d y";
const image = "data:image/png;base64,iVBORw0KGgo=";
const go = userMessage("Go.");
const on = userMessage("Go on.");

/**
 * Histories that a conversation can have: by a tool, a user, a model that errs, or another provider before a change of model. Every
 * provider must accept each, whatever has to be replaced in the request.
 */
export const hostileHistories: Readonly<Record<string, readonly ModelMessage[]>> = {
  "half a pair in a message": [userMessage(half)],
  "half a pair in an answer": [go, answer(half), on],
  "half a pair in a result": [go, ...callAndResult({ result: half }), on],
  "half a pair in arguments": [go, ...callAndResult({ arguments: '{"path":"a\\ud83d b"}' }), on],
  "half a pair in an argument's name": [go, ...callAndResult({ arguments: '{"\\udc00":"a"}' }), on],
  "half a pair in what was thought": [go, ...callAndResult({ reasoning: half }), on],
  "arguments that are no object": [go, ...callAndResult({ arguments: "[1]" }), on],
  "arguments that are no JSON": [go, ...callAndResult({ arguments: '{"path": "un' }), on],
  "arguments that are empty": [go, ...callAndResult({ arguments: "" }), on],
  "a called name with a dot": [go, ...callAndResult({ name: "functions.look" }), on],
  "a called name with blanks": [go, ...callAndResult({ name: "look at this" }), on],
  "a called name of another script": [go, ...callAndResult({ name: "посмотри" }), on],
  "a called name with a digit first": [go, ...callAndResult({ name: "21st_look" }), on],
  "a called name of nothing": [go, ...callAndResult({ name: "" }), on],
  "a called name of 200 characters": [go, ...callAndResult({ name: "n".repeat(200) }), on],
  "an id of OpenAI": [go, ...callAndResult({ id: "call_abcdefghijklmnopqrstuvwx" }), on],
  "an id of Anthropic": [go, ...callAndResult({ id: "toolu_01abcdefghijklmnopqrstuv" }), on],
  "an id of Mistral": [go, ...callAndResult({ id: "aB3dE6gH9" }), on],
  "an id of Kimi": [go, ...callAndResult({ id: "functions.look:0" }), on],
  "an id of 120 characters": [go, ...callAndResult({ id: "i".repeat(120) }), on],
  "an id of another script": [go, ...callAndResult({ id: "вызов 1" }), on],
  "ids that become one where signs are replaced": [
    go,
    call({ id: "a.b" }, { id: "a:b" }),
    toolResult("a.b", "look", "one"),
    toolResult("a:b", "look", "two"),
    on,
  ],
  "ids that become one where they are cut": [
    go,
    call({ id: `${"i".repeat(80)}1` }, { id: `${"i".repeat(80)}2` }),
    toolResult(`${"i".repeat(80)}1`, "look", "one"),
    toolResult(`${"i".repeat(80)}2`, "look", "two"),
    on,
  ],
  "an id that comes twice": [
    go,
    ...callAndResult({ id: "functions.look:0" }),
    on,
    ...callAndResult({ id: "functions.look:0", result: "seen anew" }),
    on,
  ],
  "results in another order": [
    go,
    call({ id: "call_1" }, { id: "call_2" }),
    toolResult("call_2", "look", "two"),
    toolResult("call_1", "look", "one"),
    on,
  ],
  "a call without a result": [go, call({}), on],
  "a result without a call": [go, toolResult("call_x", "look", "seen"), on],
  "a result twice": [go, ...callAndResult({ id: "call_1" }), toolResult("call_1", "look", "seen again"), on],
  "a blank message": [userMessage(" "), answer("Yes?"), userMessage("")],
  "a blank answer": [go, answer(" "), on],
  "a blank result": [go, ...callAndResult({ result: "" }), on],
  "two users": [go, userMessage("Now."), on],
  "two answers": [go, answer("I"), answer("think"), on],
  "an answer first": [answer("Hello."), go],
  "an answer last": [go, answer("It is ")],
  "a result last": [go, ...callAndResult({})],
  "a user after results": [go, ...callAndResult({}), on],
  "a late system message": [
    go,
    answer("Yes?"),
    { role: "system", content: [{ type: "text", text: "Be kind." }] },
    on,
  ],
  "an image of a user": [
    {
      role: "user",
      content: [
        { type: "text", text: "Look:" },
        { type: "image", image_urls: [image] },
      ],
    },
  ],
  "an image of a tool": [
    go,
    call({ id: "call_1" }),
    { role: "tool", toolCallId: "call_1", name: "look", content: [{ type: "image", image_urls: [image] }] },
    on,
  ],
  "thinking that another signed": [
    go,
    {
      ...call({ id: "call_1" }),
      thinkingBlocks: [{ type: "thinking", thinking: "Hm.", signature: "c2VhbGVk" }],
    },
    toolResult("call_1", "look", "seen"),
  ],
  "thinking that nobody signed": [
    go,
    { ...call({ id: "call_1" }), reasoningContent: "Hm." },
    toolResult("call_1", "look", "seen"),
  ],
  "a call that nobody thought about": [go, ...callAndResult({ reasoning: null })],
  "seals of another host": [
    go,
    {
      ...call({ id: "call_1" }),
      replay: {
        wire: "google",
        host: "elsewhere.example",
        items: [{ type: "call", call_id: "call_1", signature: "c2VhbGVk" }],
      },
    },
    toolResult("call_1", "look", "seen"),
  ],
};

type CallFields = {
  readonly id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly result?: string;
  readonly reasoning?: string | null;
};

function answer(text: string): AssistantMessage {
  return { ...silent, content: [{ type: "text", text }] };
}

function call(...calls: readonly CallFields[]): AssistantMessage {
  const [first] = calls;
  return {
    ...silent,
    reasoningContent: first?.reasoning ?? null,
    toolCalls: calls.map((fields) => ({
      id: fields.id ?? "call_1",
      name: fields.name ?? "look",
      arguments: fields.arguments ?? '{"path":"/a"}',
      origin: "completion",
    })),
  };
}

function callAndResult(fields: CallFields): ModelMessage[] {
  return [call(fields), toolResult(fields.id ?? "call_1", fields.name ?? "look", fields.result ?? "seen")];
}
