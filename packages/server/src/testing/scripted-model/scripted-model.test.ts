import { afterEach, describe, expect, test } from "vitest";
import type { Model, ModelMessage, ModelPart } from "../../models/model.ts";
import { openModel } from "../../models/open-model.ts";
import {
  createScriptedModel,
  parseScript,
  startScriptedModel,
  type Script,
  type ScriptedModelServer,
} from "./scripted-model.ts";

let server: ScriptedModelServer | undefined;
afterEach(async () => {
  await server?.[Symbol.asyncDispose]();
  server = undefined;
});

const user = (text: string): ModelMessage => ({ role: "user", content: [{ type: "text", text }] });
const tool = { name: "finish", description: "Ends.", parameters: { type: "object" } };

/** The answer to one request, in short: texts, calls as `name(arguments)`, failures as their code. */
async function say(
  model: Model,
  messages: readonly ModelMessage[],
  tools = [tool].slice(1),
): Promise<string> {
  const parts: ModelPart[] = [];
  const request = { messages, tools, cacheKey: "c" };
  for await (const part of model.stream(request, new AbortController().signal)) parts.push(part);
  const last = parts.at(-1);
  if (last?.type === "failed") return last.error.code;
  if (last?.type !== "done") return last?.type ?? "nothing";
  const { content, toolCalls } = last.response.message;
  return [
    ...content.map((part) => part.text),
    ...toolCalls.map((call) => `${call.name}(${call.arguments})`),
  ].join(" ");
}

function assistant(text: string): ModelMessage {
  const nothing = { toolCalls: [], reasoningContent: null, thinkingBlocks: [], reasoningItem: null };
  return { role: "assistant", content: [{ type: "text", text }], ...nothing };
}

const transports = ["in process", "openai chat", "anthropic"] as const;

async function open(
  transport: (typeof transports)[number],
  script: Script,
  vars: Record<string, string> = {},
): Promise<Model> {
  if (transport === "in process") return createScriptedModel(script, { vars, attempts: 1 });
  server = await startScriptedModel({ script, vars });
  const model = transport === "anthropic" ? "anthropic/claude-opus-4-7" : "openai/gpt-4.1";
  const base_url = transport === "anthropic" ? server.url : `${server.url}/v1`;
  return openModel({ model, base_url, num_retries: 1 });
}

describe.each(transports)("scripted model, %s", (transport) => {
  test("by history the number of assistant messages chooses the turn, for any number of conversations", async () => {
    const model = await open(transport, { turns: [{ text: "first" }, { text: "second" }] });
    const longer = [user("a"), assistant("first"), user("b")];
    expect(await say(model, [user("a")])).toBe("first");
    expect(await say(model, longer)).toBe("second");
    expect(await say(model, longer)).toBe("second");
    expect(await say(model, [user("other")])).toBe("first");
  });

  test("after the end it finishes, fails or begins again", async () => {
    const ended = [user("a"), assistant("only"), user("b")];
    const turns = [{ text: "only" }];
    const finishing = await open(transport, { turns });
    expect(await say(finishing, ended)).toBe("The script has ended.");
    expect(await say(finishing, ended, [tool])).toBe('finish({"message":"The script has ended."})');
    await server?.[Symbol.asyncDispose]();
    expect(await say(await open(transport, { turns, after_end: "error" }), ended)).toBe("LLMBadRequestError");
    await server?.[Symbol.asyncDispose]();
    expect(await say(await open(transport, { turns, loop: true }), ended)).toBe("only");
  });

  test("in order every request gets the next turn, and a fault may repeat", async () => {
    const model = await open(transport, {
      select: "in_order",
      turns: [
        { error: { status: 500 } },
        { text: "one" },
        { text: "two", error: { status: 429 }, attempts: 2 },
        { overflow: true, attempts: 2 },
      ],
    });
    const answers: string[] = [];
    for (let count = 0; count < 8; count += 1) answers.push(await say(model, [user("a")]));
    expect(answers).toEqual([
      "LLMServiceUnavailableError",
      "one",
      "LLMRateLimitError",
      "LLMRateLimitError",
      "two",
      "LLMContextWindowExceedError",
      "LLMContextWindowExceedError",
      "The script has ended.",
    ]);
  });

  test("by history a fault only affects the first requests of its turn", async () => {
    const model = await open(transport, { turns: [{ text: "yes", error: { status: 503 }, attempts: 1 }] });
    expect(await say(model, [user("a")])).toBe("LLMServiceUnavailableError");
    expect(await say(model, [user("a")])).toBe("yes");
    expect(await say(model, [user("b")])).toBe("LLMServiceUnavailableError");
  });

  test("match answers a user message or a tool output; expect refuses the unexpected", async () => {
    const model = await open(transport, {
      turns: [
        { text: "main", expect: { last_user_contains: "plain" } },
        { text: "weather 1", match: { last_user_contains: "weather" } },
        { text: "weather 2", match: { last_user_contains: "weather" } },
        { text: "it broke", match: { last_tool_output_contains: "exit 1" } },
      ],
    });
    const call = { id: "t1", name: "run", arguments: "{}", origin: "completion" as const };
    const calling: ModelMessage = { ...assistant("x"), role: "assistant", toolCalls: [call] } as ModelMessage;
    const output: ModelMessage = {
      role: "tool",
      toolCallId: "t1",
      name: "run",
      content: [{ type: "text", text: "exit 1" }],
    };
    expect(await say(model, [user("plain")])).toBe("main");
    expect(await say(model, [user("surprise")])).toBe("LLMBadRequestError");
    expect(await say(model, [user("the weather?")])).toBe("weather 1");
    const fine: ModelMessage = { ...output, content: [{ type: "text", text: "exit 0" }] };
    expect(await say(model, [user("the weather?"), calling, fine], [tool])).toBe("weather 2");
    expect(await say(model, [user("plain"), calling, output], [tool])).toBe("it broke");
  });

  test("placeholders are filled in texts and arguments; unknown ones stay", async () => {
    const path = "{{workspace}}/{{file}}";
    const turn = {
      text: "in {{workspace}}",
      tool_calls: [
        { name: "a", arguments: { path, deep: [path] } },
        { name: "b", arguments: `{"p":"${path}"}` },
      ],
    };
    const model = await open(
      transport,
      { turns: [turn], vars: { workspace: "/x", file: "f" } },
      { workspace: "/w" },
    );
    expect(await say(model, [user("a")])).toBe('in /w a({"path":"/w/f","deep":["/w/f"]}) b({"p":"/w/f"})');
    await server?.[Symbol.asyncDispose]();
    expect(await say(await open(transport, { turns: [{ text: "{{who}}" }] }), [user("a")])).toBe("{{who}}");
  });
});

describe("scripted model server", () => {
  test("serves its model list, records requests, and knows nothing else", async () => {
    server = await startScriptedModel({ script: '{"turns":[{"text":"hi"}],"model":"tiny"}' });
    const list = await fetch(`${server.url}/v1/models`);
    expect(await list.json()).toMatchObject({ object: "list", data: [{ id: "tiny" }] });
    expect((await fetch(`${server.url}/elsewhere`)).status).toBe(404);
    expect((await fetch(`${server.url}/v1/messages`)).status).toBe(404);
    const body = JSON.stringify({ messages: [{ role: "user", content: "x" }] });
    const answer = await fetch(`${server.url}/chat/completions`, { method: "POST", body });
    expect(await answer.json()).toMatchObject({ id: "resp-1", choices: [{ message: { content: "hi" } }] });
    expect(server.requests).toMatchObject([
      { wire: "openai-chat", path: "/chat/completions", turn: 0, text: body },
    ]);
  });

  test("a request that is not JSON gets an answer", async () => {
    server = await startScriptedModel({ script: { turns: [] } });
    const answer = await fetch(`${server.url}/v1/messages`, { method: "POST", body: "{" });
    expect(answer.status).toBe(500);
  });

  test("ids can be made unique per request", async () => {
    const model = createScriptedModel({ turns: [{ text: "a" }], unique_ids: true, loop: true });
    const idOf = async (text: string): Promise<string> => {
      for await (const part of model.stream(
        { messages: [user(text)], tools: [], cacheKey: "c" },
        new AbortController().signal,
      )) {
        if (part.type === "done") return part.response.id;
      }
      return "";
    };
    expect(await idOf("a")).toBe(await idOf("a"));
    expect(await idOf("a")).not.toBe(await idOf("b"));
  });

  test("in process, faults that may pass are retried and shown", async () => {
    const model = createScriptedModel({ turns: [{ text: "ok", error: { status: 429 }, attempts: 2 }] });
    const types: string[] = [];
    for await (const part of model.stream(
      { messages: [user("a")], tools: [], cacheKey: "c" },
      new AbortController().signal,
    )) {
      types.push(part.type);
    }
    expect(types).toEqual(["retry", "retry", "text", "done"]);
    expect(model.requests).toHaveLength(3);
  });

  test.each([true, "body"] as const)("in process, a hang (%s) ends by abort", async (hang) => {
    const model = createScriptedModel({ turns: [{ text: "ok", hang }] });
    const stop = new AbortController();
    setImmediate(() => stop.abort());
    const parts: ModelPart[] = [];
    for await (const part of model.stream({ messages: [user("a")], tools: [], cacheKey: "c" }, stop.signal))
      parts.push(part);
    expect(parts.at(-1)).toEqual({ type: "aborted" });
  });
});

describe("parseScript", () => {
  test.each([
    ["{", "The script is not JSON"],
    [[], "script must be an object"],
    [{}, "script.turns is missing"],
    [{ turns: {} }, "script.turns must be a list"],
    [{ turns: [{ text: 1 }] }, "script.turns[0].text must be a string"],
    [{ turns: [{}, { txt: "a" }] }, "script.turns[1].txt is not known: use text, "],
    [{ turns: [{ tool_calls: [{ name: "a" }] }] }, "script.turns[0].tool_calls[0].arguments is missing"],
    [
      { turns: [{ tool_calls: [{ name: "a", arguments: 1 }] }] },
      "script.turns[0].tool_calls[0].arguments must be an object",
    ],
    [{ turns: [{ error: {} }] }, "script.turns[0].error.status is missing"],
    [{ turns: [{ error: { status: 200 } }] }, "script.turns[0].error.status must be an HTTP status"],
    [{ turns: [{ hang: "now" }] }, 'script.turns[0].hang must be one of true, false, "body"'],
    [{ turns: [{ chunk_size: 0 }] }, "script.turns[0].chunk_size must be at least 1"],
    [{ turns: [{ delay_ms: -1 }] }, "script.turns[0].delay_ms must be a whole number"],
    [{ turns: [], select: "random" }, 'script.select must be one of "by_history", "in_order"'],
    [{ turns: [], vars: { a: 1 } }, "script.vars.a must be a string"],
  ])("%j: %s", (script, message) => {
    expect(() => parseScript(script)).toThrow(message);
  });

  test("a good script is returned as it is", () => {
    const script = { turns: [{ text: "a", usage: { prompt_tokens: 1, cost: 0.5 } }] };
    expect(parseScript(JSON.stringify(script))).toEqual(script);
  });
});
