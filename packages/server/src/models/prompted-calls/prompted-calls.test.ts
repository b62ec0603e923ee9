import { describe, expect, test } from "vitest";
import { collect, doneOf, silent, textOf, toolResult, userMessage } from "../contract-bench.ts";
import type { ModelTool } from "../model.ts";
import { openModel } from "../open-model.ts";
import { CallTextSplitter, parseCalls } from "./parse-prompted-calls.ts";
import { toPromptedRequest } from "./prompted-calls.ts";
import { startScriptedModel } from "../../testing/scripted-model/scripted-model.ts";

const tool: ModelTool = {
  name: "edit",
  description: "Edits.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string" },
      line: { type: "integer" },
      lines: { type: "array" },
      all: { anyOf: [{ type: "boolean" }, { type: "null" }] },
      text: { anyOf: [{ type: "string" }, { type: "null" }] },
    },
  },
};

function read(text: string): unknown {
  const { before, calls } = parseCalls(text, [tool]);
  return [before, ...calls.map((call) => [call.name, JSON.parse(call.arguments) as unknown])];
}

describe("calls in words", () => {
  test.each<[string, string, unknown]>([
    ["no call", "Just text < 3 & <b>.", ["Just text < 3 & <b>."]],
    [
      "the form asked for",
      'Now:\n\n<call name="edit">\n<arg name="path">\n/a b\n</arg>\n<arg name="line">\n12\n</arg>\n</call>',
      ["Now:", ["edit", { path: "/a b", line: 12 }]],
    ],
    [
      "values of many lines with tags inside",
      '<call name="edit">\n<arg name="text">\n<arg>x</arg>\n</call> no\n  indented\n\n</arg>\n<arg name="lines">\n[1, "2"]\n</arg>\n</call>',
      ["", ["edit", { text: "<arg>x</arg>\n</call> no\n  indented\n", lines: [1, "2"] }]],
    ],
    [
      "several calls",
      '<call name="edit"><arg name="path">1</arg></call>\n<call name="edit"><arg name="all">True</arg></call>',
      ["", ["edit", { path: "1" }], ["edit", { all: true }]],
    ],
    ["a missing end", '<call name="edit">\n<arg name="path">\n/a', ["", ["edit", { path: "/a" }]]],
    ["no arguments", '<call name="edit">\n</call>', ["", ["edit", {}]]],
    ["JSON inside", '```xml\n<call name="edit">{"path":"/a"}</call>\n```', ["", ["edit", { path: "/a" }]]],
    [
      "JSON of other models",
      'x <tool_call>\n{"name": "edit", "arguments": {"line": 1.0}}\n</tool_call>',
      ["x", ["edit", { line: 1 }]],
    ],
    [
      "tags of other models",
      "<tool_call>\n<function=edit>\n<parameter=path>\n/a\n</parameter>\n<parameter=line>\n3\n</parameter>\n</function>\n</tool_call>",
      ["", ["edit", { path: "/a", line: 3 }]],
    ],
    [
      "results that the model imagines",
      '<call name="edit">\n<arg name="path">\n/a\n</arg>\n</call>\n<result name="edit">\nok\n</result>\n<call name="edit">\n</call>',
      ["", ["edit", { path: "/a" }]],
    ],
    [
      "a value of the wrong type stays text",
      '<call name="edit"><arg name="line">twelve</arg></call>',
      ["", ["edit", { line: "twelve" }]],
    ],
    ["null", '<call name="edit"><arg name="text">null</arg></call>', ["", ["edit", { text: null }]]],
  ])("%s", (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  test("P12: what cannot be read reaches the tool check as it is", () => {
    expect(parseCalls("<tool_call>{broken</tool_call>", [tool]).calls).toEqual([
      { name: "", arguments: "{broken" },
    ]);
  });

  test.each([
    '<call name="edit">\n<arg name="path">\n/a</arg></call>\n<call name="edit">\n<arg name="path">\n/hal',
    '<call name="edit">{"path":"/a"}</call>\n<call name="edit">{"path":"/a"}',
    '<tool_call>{"name":"edit","arguments":{"path":"/a"}}</tool_call><tool_call>{"name":"edit","arguments":{"path":"/a"}}',
  ])("half a call of an answer that was cut at its limit is not taken for a whole one: %j", (text) => {
    const [first, last] = parseCalls(text, [tool], { isCut: true }).calls;
    expect(JSON.parse(first!.arguments)).toEqual({ path: "/a" });
    expect(last!.name).toBe("edit");
    expect(() => JSON.parse(last!.arguments) as unknown).toThrow();
  });

  test("an answer cut at its limit in the middle of a call", async () => {
    const text = 'Now.\n<call name="edit">\n<arg name="path">\n/ha';
    await using server = await startScriptedModel({ script: { turns: [{ text, finish_reason: "length" }] } });
    const model = openModel({ model: "ollama/tiny", base_url: server.url, native_tool_calling: false });
    const { isTruncated, message } = doneOf(await collect(model));
    expect([isTruncated, message.toolCalls.length]).toEqual([true, 1]);
    expect(message.toolCalls[0]!.arguments).toContain("/ha");
    expect(() => JSON.parse(message.toolCalls[0]!.arguments) as unknown).toThrow();
  });

  test.each([1, 2, 3, 7, 1000])("text is shown up to the first call, in pieces of %i", (size) => {
    const splitter = new CallTextSplitter();
    const text = 'a < b, <i> and\n<call name="edit">\n<arg name="path">\n/a\n</arg>\n</call>';
    let shown = "";
    for (let at = 0; at < text.length; at += size) shown += splitter.add(text.slice(at, at + size));
    expect(shown + splitter.end()).toBe("a < b, <i> and");
  });

  test("a history reads as words, and goes through the reader unchanged", () => {
    const call = {
      id: "call_A",
      name: "edit",
      arguments: '{"path":"/a","line":1.50}',
      origin: "completion" as const,
    };
    const plain = { ...silent, content: [{ type: "text" as const, text: "So:" }], toolCalls: [call] };
    const { messages, tools } = toPromptedRequest({
      messages: [userMessage("Go."), plain, toolResult("call_A", "edit", "ok"), userMessage("More.")],
      tools: [tool],
      cacheKey: "c",
    });
    expect(tools).toEqual([]);
    expect(messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user", "user"]);
    const words = messages[2]!.content.map((part) => ("text" in part ? part.text : "")).join("");
    expect(words).toContain("1.50");
    expect(read(words)).toEqual(["So:", ["edit", { path: "/a", line: 1.5 }]]);
  });

  test.each([
    ["anthropic/claude-sonnet-4-5", ""],
    ["bedrock/anthropic.claude-sonnet-4-20250514-v1:0", ""],
  ])("%s reads calls and results in words where it is asked without tools", async (name, path) => {
    await using server = await startScriptedModel({ script: { turns: [{ text: "Yes." }], loop: true } });
    const model = openModel({ model: name, base_url: `${server.url}${path}`, api_key: "k" });
    const call = { id: "call_A", name: "edit", arguments: '{"path":"/a"}', origin: "completion" as const };
    const thinkingBlocks = [{ type: "thinking" as const, thinking: "Hm.", signature: "s==" }];
    const history = [
      userMessage("Go."),
      { ...silent, toolCalls: [call], thinkingBlocks },
      toolResult("call_A", "edit", "the result"),
      userMessage("Is it done?"),
    ];
    const request = { messages: history, tools: [], cacheKey: "c" };
    const parts = await Array.fromAsync(model.stream(request, new AbortController().signal));
    expect(textOf(parts)).toBe("Yes.");
    const { text } = server.requests[0]!;
    expect(text).toContain("the result");
    expect(text).toContain('<call name=\\"edit\\">');
    expect(text).not.toMatch(/tool_use|toolUse|tool_result|toolResult|signature/u);
  });

  test("L23.25: ids are never used twice, whatever is repeated", async () => {
    const text = 'Now.\n<call name="edit">\n<arg name="path">\n/a\n</arg>\n</call>';
    await using server = await startScriptedModel({
      script: { turns: [{ text, chunk_size: 3 }], loop: true },
    });
    const model = openModel({ model: "ollama/tiny", base_url: server.url, native_tool_calling: false });
    const ids = new Set<string>();
    for (let count = 0; count < 3; count += 1) {
      const parts = await collect(model);
      expect(textOf(parts)).toBe("Now.");
      const { message } = doneOf(parts);
      expect(message.content).toEqual([{ type: "text", text: "Now." }]);
      for (const { id } of message.toolCalls) ids.add(id);
    }
    expect(ids.size).toBe(3);
    expect(server.requests[0]?.body["tools"]).toBeUndefined();
  });
});
