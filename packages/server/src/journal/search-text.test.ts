import { expect, test } from "vitest";
import { searchTextOf, searchedCharacters } from "./search-text.ts";

const of = (event: object): readonly string[] => searchTextOf(JSON.stringify(event))?.texts ?? [];

test("S11: messages, thoughts, commands, paths, arguments, outputs and errors are searched", () => {
  const content = [
    { type: "text", text: "hello" },
    { type: "image", image_urls: ["data:image/png;base64,AAAA"] },
  ];
  expect(of({ kind: "MessageEvent", llm_message: { role: "user", content } })).toEqual(["hello"]);
  const action = { kind: "TerminalAction", command: "npm test", timeout: 3, nested: { path: "/a/b.ts" } };
  const thought = [{ type: "text", text: "I look." }];
  expect(
    searchTextOf(
      JSON.stringify({
        kind: "ActionEvent",
        source: "agent",
        tool_name: "terminal",
        thought,
        summary: "test",
        action,
      }),
    ),
  ).toEqual({
    kind: "ActionEvent",
    source: "agent",
    toolName: "terminal",
    texts: ["I look.", "npm test", "/a/b.ts", "test"],
  });
  expect(of({ kind: "ConversationErrorEvent", code: "LLMError", detail: "It is busy." })).toEqual([
    "LLMError",
    "It is busy.",
  ]);
  expect(of({ kind: "ConversationStateUpdateEvent", key: "stats", value: "unseen" })).toEqual([]);
});

test("S11: of a long output the beginning and the end are searched, of pictures nothing", () => {
  const output = (text: string): readonly string[] =>
    of({ kind: "ObservationEvent", observation: { content: [{ type: "text", text }] } });
  const [text] = output(`first ${"x y ".repeat(10_000)} last`);
  expect(text).toHaveLength(2 * searchedCharacters + 3);
  expect(text).toMatch(/^first [^]*…[^]* last$/);
  expect(output("A".repeat(5000))).toEqual([]);
  expect(output("data:image/png;base64,iVBOR")).toEqual([]);
  // A million small texts are no reason to read them all.
  const many = {
    kind: "ActionEvent",
    action: { list: Array.from({ length: 100_000 }, (_, at) => `item ${at}`) },
  };
  expect(of(many)).toHaveLength(64);
});

test("P7: what is damaged has no text", () => {
  for (const json of ["", "{", "null", "[1]", '{"kind":3}']) expect(searchTextOf(json)).toBeNull();
});
