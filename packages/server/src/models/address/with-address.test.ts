import type { LLM, MessageToolCall } from "@convoke/protocol";
import { describe, expect, test } from "vitest";
import { createFastModelClock } from "../clock.ts";
import { requestOf, toolResult, userMessage } from "../contract-bench.ts";
import type { AssistantMessage, ModelMessage, ModelPart, ModelTool } from "../model.ts";
import { openModel } from "../open-model.ts";
import { createMemoryLessons, type LessonStore } from "./lesson-store.ts";

type Body = {
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly tools?: readonly { readonly function: ModelTool }[];
};
/** What the server has against a request; null when it answers. */
type Judge = (body: Body, text: string) => string | object | null;

const llm: LLM = { model: "openai/some-model", base_url: "http://127.0.0.1:9/v1", num_retries: 1 };

type Bench = {
  readonly bodies: Body[];
  ask(messages: readonly ModelMessage[], tools?: readonly ModelTool[]): Promise<ModelPart[]>;
};

/** A server that answers with `chunks` whatever it does not refuse. */
function openBench(judge: Judge, { changes = {}, lessons, chunks = [hello] }: BenchOptions = {}): Bench {
  const bodies: Body[] = [];
  const send = async (...given: Parameters<typeof fetch>): Promise<Response> => {
    const text = await new Request(...given).text();
    const body = JSON.parse(text) as Body;
    bodies.push(body);
    const refusal = judge(body, text);
    const error = typeof refusal === "string" ? { message: refusal } : refusal;
    if (error !== null) return Response.json({ error }, { status: 400 });
    const events = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
    return new Response(`${events}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
  };
  const deps = { send, clock: createFastModelClock(200), ...(lessons === undefined ? {} : { lessons }) };
  const model = openModel({ ...llm, ...changes }, deps);
  return {
    bodies,
    ask: async (messages, tools = []) => {
      const parts: ModelPart[] = [];
      const request = { ...requestOf(messages), tools };
      for await (const part of model.stream(request, new AbortController().signal)) parts.push(part);
      return parts;
    },
  };
}

type BenchOptions = {
  readonly changes?: LLM;
  readonly lessons?: LessonStore;
  readonly chunks?: readonly object[];
};

const hello = { id: "r", choices: [{ index: 0, delta: { content: "Hello" }, finish_reason: "stop" }] };

function call(id: string, name = "look", args = "{}"): MessageToolCall {
  return { id, name, arguments: args, origin: "completion" };
}

function answered(
  calls: readonly MessageToolCall[],
  changes: Partial<AssistantMessage> = {},
): ModelMessage[] {
  const assistant: AssistantMessage = {
    role: "assistant",
    content: [],
    toolCalls: calls,
    reasoningContent: null,
    thinkingBlocks: [],
    reasoningItem: null,
    ...changes,
  };
  return [assistant, ...calls.map(({ id, name }) => toolResult(id, name, "seen"))];
}

function tool(name: string, properties: object = {}): ModelTool {
  return { name, description: "Looks.", parameters: { type: "object", properties } };
}

function toolNamesOf(body: Body | undefined): string[] {
  return (body?.tools ?? []).map((one) => one.function.name);
}

function adjustments(parts: readonly ModelPart[]): string[] {
  return parts.flatMap((part) => (part.type === "adjusted" ? [part.adjustment.detail] : []));
}

function isDone(parts: readonly ModelPart[]): boolean {
  return parts.at(-1)?.type === "done";
}

describe("K2: half a surrogate pair", () => {
  test.each<[string, ModelMessage[], ModelTool[], LLM]>([
    ["in a message", [userMessage("x\ud83d y")], [], {}],
    [
      "in a result",
      [userMessage("Go."), ...answered([call("a")]), toolResult("a", "look", "n\ud83d")],
      [],
      {},
    ],
    ["in arguments", [userMessage("Go."), ...answered([call("a", "look", '{"c":"\ud83d"}')])], [], {}],
    [
      "as an escape in arguments",
      [userMessage("Go."), ...answered([call("a", "look", '{"c":"\\ud83d b"}')])],
      [],
      {},
    ],
    ["in a name and an id", [userMessage("Go."), ...answered([call("a\ud83d", "lo\ude00ok")])], [], {}],
    [
      "in a tool",
      [userMessage("Go.")],
      [{ ...tool("t\ud83d", { "p\ud83d": { enum: ["\ude00"] } }), description: "\ud83d" }],
      {},
    ],
    ["in the body of the settings", [userMessage("Go.")], [], { litellm_extra_body: { tag: "\ud83d" } }],
  ])("P12: %s reaches no wire", async (_, messages, tools, changes) => {
    for (const model of [
      "openai/some-model",
      "openai_responses/gpt-5",
      "anthropic/claude-sonnet-4-5",
      "gemini/gemini-2.5-pro",
    ]) {
      let text = "";
      const bench = openBench((_body, sent) => ((text = sent), null), {
        changes: { ...changes, model, api_key: "k" },
      });
      await bench.ask(messages, tools);
      expect(text, model).not.toBe("");
      expect(JSON.stringify(JSON.parse(text)), model).not.toMatch(/\\+ud[89a-f]/iu);
    }
  });
});

describe("K3: a tool that is refused", () => {
  const odd = tool("odd", { email: { type: "string", pattern: "^(?!\\.)x" }, list: { type: "array" } });
  const tools = [tool("good", { a: { type: "string" } }), odd];

  test("a keyword that is named is left out, told once and remembered", async () => {
    const lessons = createMemoryLessons();
    const judge: Judge = (_body, text) =>
      text.includes("(?!") ? "Invalid JSON schema for tool: regex lookaround is not supported" : null;
    const bench = openBench(judge, { lessons });
    const first = await bench.ask([userMessage("Go.")], tools);
    expect(isDone(first)).toBe(true);
    expect(adjustments(first)).toEqual([expect.stringContaining("patterns with lookaround")]);
    expect(bench.bodies.map(toolNamesOf)).toEqual([
      ["good", "odd"],
      ["good", "odd"],
    ]);
    expect(bench.bodies[1]!.tools![1]!.function.parameters).toEqual({
      type: "object",
      properties: { email: { type: "string" }, list: { type: "array", items: {} } },
    });
    const other = openBench(judge, { lessons });
    expect(adjustments(await other.ask([userMessage("Go.")], tools))).toHaveLength(1);
    expect(other.bodies).toHaveLength(1);
    expect(adjustments(await other.ask([userMessage("Go.")], [tools[0]!]))).toEqual([]);
  });

  test.each([
    ["by its name", "Invalid schema for function 'odd': it is odd"],
    ["by its position", "tools.1.custom.input_schema: not understood"],
    ["by a property that only it has", "properties.email: not understood in a tool"],
  ])(
    "the tool is refused %s: the model reads its arguments in words, then the agent works without it",
    async (_, message) => {
      const isPlain = (body: Body): boolean =>
        !JSON.stringify(body.tools?.[1]?.function.parameters ?? {}).includes("email");
      const words = openBench((body) => (isPlain(body) ? null : message));
      expect(isDone(await words.ask([userMessage("Go.")], tools))).toBe(true);
      expect(words.bodies.at(-1)!.tools![1]!.function.description).toContain('"email"');
      const without = openBench((body) =>
        toolNamesOf(body).includes("odd") ? message.replace("email", "'odd'") : null,
      );
      const parts = await without.ask([userMessage("Go.")], tools);
      expect(isDone(parts)).toBe(true);
      expect(toolNamesOf(without.bodies.at(-1))).toEqual(["good"]);
      expect(adjustments(parts).at(-1)).toContain('refuses the tool "odd": the agent works without it');
    },
  );

  test("a provider that refuses one keyword after the other gets plain schemas in time", async () => {
    const words = Array.from({ length: 40 }, (_, at) => `x-keyword-${at}`);
    const wide = tool("wide", {
      a: { type: "string", ...Object.fromEntries(words.map((word) => [word, 1])), minLength: 1 },
    });
    const many = ["pattern", "format", "default", "const", "examples", "$comment", "minItems", "maxItems"];
    const strict = tool("strict", {
      a: { type: "string", ...Object.fromEntries([...many, ...words].map((word) => [word, "x"])) },
    });
    const judge: Judge = (_body, text) => {
      const refused = [...many, "minLength", ...words].find((word) => text.includes(`"${word}":`));
      return refused === undefined
        ? null
        : `Unknown name "${refused}" at tools[0].parameters: no such field.`;
    };
    const bench = openBench(judge);
    expect(isDone(await bench.ask([userMessage("Go.")], [tool("good"), wide, strict]))).toBe(true);
    expect(toolNamesOf(bench.bodies.at(-1))).toEqual(["good", "wide", "strict"]);
  });

  test.each([
    ["a type that is none", { a: { type: "date" } }],
    ["a name with a slash", { "b/c": { type: "string" } }],
  ])("a schema with %s is put into words before its tool is left out", async (_, properties) => {
    const refused = "a" in properties ? '"date"' : '"b/c"';
    const bench = openBench((body) =>
      JSON.stringify(body.tools!.map((one) => one.function.parameters)).includes(refused)
        ? "Invalid schema for function 'odd': not understood"
        : null,
    );
    expect(isDone(await bench.ask([userMessage("Go.")], [tool("good"), tool("odd", properties)]))).toBe(true);
    expect(toolNamesOf(bench.bodies.at(-1))).toEqual(["good", "odd"]);
  });

  test("a refusal that names nothing ends in plain schemas, and one that nothing helps keeps its own words", async () => {
    const bench = openBench((_body, text) => (text.includes('pattern":') ? "Bad request." : null));
    expect(isDone(await bench.ask([userMessage("Go.")], tools))).toBe(true);
    const hopeless = openBench((body) =>
      body.tools === undefined ? "Second words." : `No. ${body.tools.length}`,
    );
    const parts = await hopeless.ask([userMessage("Go.")], tools);
    expect(parts.at(-1)).toMatchObject({
      type: "failed",
      error: { code: "LLMBadRequestError", detail: expect.stringContaining("No. 2") as string },
    });
    expect(hopeless.bodies.length).toBeLessThan(8);
  });
});

describe("limits that a refusal names", () => {
  /** As OpenAI writes them: the code says "max_length" too, and a position stands before the limit. */
  const tooLong = (param: string, kind: "string" | "array", limits: readonly [number, number]): object => ({
    message: `Invalid '${param}': ${kind} too long. Expected ${kind === "array" ? "an" : "a"} ${kind} with maximum length ${limits[0]}, but got ${kind === "array" ? "an" : "a"} ${kind} with length ${limits[1]} instead.`,
    type: "invalid_request_error",
    param,
    code: `${kind}_above_max_length`,
  });

  test("a long description is cut, and its tool stays", async () => {
    const wordy = { ...tool("wordy"), description: "d".repeat(2108) };
    const bench = openBench((body) => {
      const at = body.tools!.findIndex((one) => one.function.description.length > 1024);
      return at === -1 ? null : tooLong(`tools[${at}].function.description`, "string", [1024, 2108]);
    });
    const parts = await bench.ask([userMessage("Go.")], [wordy, tool("good")]);
    expect(toolNamesOf(bench.bodies.at(-1))).toEqual(["wordy", "good"]);
    expect(adjustments(parts)).toEqual([expect.stringContaining("at most 1024 characters")]);
  });

  test("as many tools are sent as are taken", async () => {
    const many = Array.from({ length: 90 }, (_, at) => tool(`look_${at}`));
    const bench = openBench((body) =>
      body.tools!.length > 64 ? tooLong("tools", "array", [64, body.tools!.length]) : null,
    );
    expect(isDone(await bench.ask([userMessage("Go.")], many))).toBe(true);
    expect(bench.bodies.at(-1)!.tools).toHaveLength(64);
  });
});

describe("K5: ids and names of another provider", () => {
  const ids = [
    "call_00000000000000000000000000000001",
    "functions.look:0",
    "",
    "functions.look:0",
    "abcdefghi",
  ];
  const history = [userMessage("Go."), ...ids.flatMap((id) => answered([call(id, "functions.terminal")]))];

  type Sent = {
    readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[];
  };
  const callsOf = (body: Body): { id: string; name: string }[] =>
    (body.messages as Sent[]).flatMap(({ tool_calls: calls = [] }) =>
      calls.map(({ id, function: { name } }) => ({ id, name })),
    );
  const resultsOf = (body: Body): unknown[] =>
    body.messages.flatMap(({ role, tool_call_id: id }) => (role === "tool" ? [id] : []));

  test("every call has an id and a name that wires take, its result the same id, and more history only adds", async () => {
    const bench = openBench(() => null);
    await bench.ask(history);
    await bench.ask([...history, ...answered([call("functions.look:0"), call("x y")])]);
    const [first, second] = bench.bodies.map(callsOf);
    for (const { id, name } of second!) {
      expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/u);
      expect(name).toMatch(/^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/u);
    }
    expect(new Set(second!.map(({ id }) => id)).size).toBe(7);
    expect(second!.slice(0, 5)).toEqual(first);
    expect(bench.bodies.map(resultsOf)).toEqual([first!, second!].map((calls) => calls.map(({ id }) => id)));
    expect(first![0]!.id).toBe(ids[0]);
  });

  test.each([
    ["mistral/mistral-large-latest", 1],
    ["openai/an-alias", 2],
  ])("%s gets ids of nine letters and digits, after %d requests", async (model, requests) => {
    const isWrong = (body: Body): boolean => callsOf(body).some(({ id }) => !/^[a-zA-Z0-9]{9}$/u.test(id));
    const bench = openBench(
      (body) =>
        isWrong(body) ? "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9." : null,
      { changes: { model } },
    );
    expect(isDone(await bench.ask(history))).toBe(true);
    expect(bench.bodies).toHaveLength(requests);
    expect(callsOf(bench.bodies.at(-1)!).at(-1)!.id).toBe("abcdefghi");
  });

  test("a tool with a name that wires refuse is called by another one and found by its own", async () => {
    const name = "srv/look up";
    const chunk = (given: string): object => ({
      id: "r",
      choices: [
        {
          index: 0,
          delta: { tool_calls: [{ index: 0, id: "a", function: { name: given, arguments: "{}" } }] },
          finish_reason: "stop",
        },
      ],
    });
    const probe = openBench(() => null);
    await probe.ask([userMessage("Go.")], [tool(name)]);
    const [given] = toolNamesOf(probe.bodies[0]);
    const bench = openBench(() => null, { chunks: [chunk(given!)] });
    const last = (await bench.ask([userMessage("Go.")], [tool(name)])).at(-1);
    expect(last).toMatchObject({ response: { message: { toolCalls: [{ name }] } } });
  });
});

describe("K6: what a server wants back", () => {
  const signature = { google: { thought_signature: "c2lnbmVk" } };
  const signed = {
    id: "r",
    choices: [
      {
        index: 0,
        delta: {
          reasoning_details: [{ type: "reasoning.encrypted", data: "sealed", index: 0 }],
          tool_calls: [
            { index: 0, id: "a", extra_content: signature, function: { name: "look", arguments: "{}" } },
          ],
        },
        finish_reason: "tool_calls",
      },
    ],
  };

  test("fields of a call and of a message go back to their address through the log, and to no other", async () => {
    const bench = openBench(() => null, { chunks: [signed] });
    const last = (await bench.ask([userMessage("Go.")])).at(-1);
    const assistant = last?.type === "done" ? last.response.message : null;
    const stored = JSON.parse(JSON.stringify(assistant)) as AssistantMessage;
    const history = [userMessage("Go."), stored, toolResult("a", "look", "seen")];
    await bench.ask(history);
    expect(bench.bodies[1]!.messages[1]).toMatchObject({
      reasoning_details: [{ type: "reasoning.encrypted", data: "sealed", index: 0 }],
      tool_calls: [{ id: "a", type: "function", extra_content: signature }],
    });
    for (const changes of [{ model: "openai/other" }, { base_url: "http://127.0.0.1:10/v1" }]) {
      const other = openBench(() => null, { changes });
      await other.ask(history);
      expect(JSON.stringify(other.bodies)).not.toMatch(/extra_content|reasoning_details/u);
    }
    const refusing = openBench((_body, text) =>
      text.includes("extra_content")
        ? "messages.1.tool_calls.0.extra_content: Extra inputs are not permitted"
        : null,
    );
    expect(isDone(await refusing.ask(history))).toBe(true);
    expect(refusing.bodies).toHaveLength(2);
  });

  test("reasoning_content that a refusal names is sent from then on, also by the next process", async () => {
    const lessons = createMemoryLessons();
    const history = [
      userMessage("Go."),
      ...answered([call("a")], { reasoningContent: "Because." }),
      ...answered([call("b")]),
    ];
    const judge: Judge = ({ messages }) =>
      messages.some(({ role, reasoning_content: text }) => role === "assistant" && typeof text !== "string")
        ? "The `reasoning_content` in the thinking mode must be passed back to the API."
        : null;
    const bench = openBench(judge, { lessons });
    expect(isDone(await bench.ask(history))).toBe(true);
    expect(isDone(await bench.ask(history))).toBe(true);
    expect(bench.bodies).toHaveLength(3);
    expect(bench.bodies[1]!.messages[1]).toMatchObject({ reasoning_content: "Because." });
    const next = openBench(judge, { lessons });
    await next.ask(history);
    expect(next.bodies).toHaveLength(1);
  });
});
