import { silent, toolResult, userMessage } from "../../../models/contract-bench.ts";
import type { AssistantMessage, ModelMessage } from "../../../models/model.ts";

const half = "x\ud83d y";
const image = "data:image/png;base64,iVBORw0KGgo=";
const go = userMessage("Go.");
const on = userMessage("Go on.");

/**
 * Histories that a conversation can come to hold: by a tool, a user, a model that errs, or another provider before a change
 * of model. Each must be taken by every provider, whatever has to be replaced in the request.
 */
export const hostileHistories: Readonly<Record<string, readonly ModelMessage[]>> = {
  "half a pair in a message": [userMessage(half)],
  "half a pair in an answer": [go, said(half), on],
  "half a pair in a result": [go, ...looked({ result: half }), on],
  "half a pair in arguments": [go, ...looked({ arguments: '{"path":"a\\ud83d b"}' }), on],
  "half a pair in an argument's name": [go, ...looked({ arguments: '{"\\udc00":"a"}' }), on],
  "half a pair in what was thought": [go, ...looked({ reasoning: half }), on],
  "arguments that are no object": [go, ...looked({ arguments: "[1]" }), on],
  "arguments that are no JSON": [go, ...looked({ arguments: '{"path": "un' }), on],
  "arguments that are empty": [go, ...looked({ arguments: "" }), on],
  "a called name with a dot": [go, ...looked({ name: "functions.look" }), on],
  "a called name with blanks": [go, ...looked({ name: "look at this" }), on],
  "a called name of another script": [go, ...looked({ name: "посмотри" }), on],
  "a called name with a digit first": [go, ...looked({ name: "21st_look" }), on],
  "a called name of nothing": [go, ...looked({ name: "" }), on],
  "a called name of 200 characters": [go, ...looked({ name: "n".repeat(200) }), on],
  "an id of OpenAI": [go, ...looked({ id: "call_abcdefghijklmnopqrstuvwx" }), on],
  "an id of Anthropic": [go, ...looked({ id: "toolu_01abcdefghijklmnopqrstuv" }), on],
  "an id of Mistral": [go, ...looked({ id: "aB3dE6gH9" }), on],
  "an id of Kimi": [go, ...looked({ id: "functions.look:0" }), on],
  "an id of 120 characters": [go, ...looked({ id: "i".repeat(120) }), on],
  "an id of another script": [go, ...looked({ id: "вызов 1" }), on],
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
    ...looked({ id: "functions.look:0" }),
    on,
    ...looked({ id: "functions.look:0", result: "seen anew" }),
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
  "a result twice": [go, ...looked({ id: "call_1" }), toolResult("call_1", "look", "seen again"), on],
  "a blank message": [userMessage(" "), said("Yes?"), userMessage("")],
  "a blank answer": [go, said(" "), on],
  "a blank result": [go, ...looked({ result: "" }), on],
  "two users": [go, userMessage("Now."), on],
  "two answers": [go, said("I"), said("think"), on],
  "an answer first": [said("Hello."), go],
  "an answer last": [go, said("It is ")],
  "a result last": [go, ...looked({})],
  "a user after results": [go, ...looked({}), on],
  "a late system message": [
    go,
    said("Yes?"),
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
  "a call that nobody thought about": [go, ...looked({ reasoning: null })],
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

type Look = {
  readonly id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly result?: string;
  readonly reasoning?: string | null;
};

function said(text: string): AssistantMessage {
  return { ...silent, content: [{ type: "text", text }] };
}

function call(...looks: readonly Look[]): AssistantMessage {
  const [first] = looks;
  return {
    ...silent,
    reasoningContent: first?.reasoning ?? null,
    toolCalls: looks.map((look) => ({
      id: look.id ?? "call_1",
      name: look.name ?? "look",
      arguments: look.arguments ?? '{"path":"/a"}',
      origin: "completion",
    })),
  };
}

function looked(look: Look): ModelMessage[] {
  return [call(look), toolResult(look.id ?? "call_1", look.name ?? "look", look.result ?? "seen")];
}
