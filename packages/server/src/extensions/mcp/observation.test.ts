import { expect, test } from "vitest";
import { toObservation } from "./observation.ts";

function textsOf(result: unknown): (string | undefined)[] {
  const [, ...parts] = toObservation("t", result).content ?? [];
  return parts.map((part) => ("text" in part ? part.text : part.image_urls[0]));
}

const empty = ["(The answer is empty.)"];

test.each<[string, unknown, string[]]>([
  ["a text instead of parts", { content: "just text" }, ["just text"]],
  ["one part instead of a list", { content: { type: "text", text: "one" } }, ["one"]],
  ["a number instead of parts", { content: 42 }, ["42"]],
  ["nothing", {}, empty],
  ["null", null, empty],
  ["no parts", { content: [] }, empty],
  ["null for parts", { content: null, isError: true }, empty],
  ["only a blank text", { content: [{ type: "text", text: " \n" }] }, [" \n", ...empty]],
  ["a text that is a number", { content: [{ type: "text", text: 42 }] }, ["42"]],
  ["a text that is an object", { content: [{ type: "text", text: { a: 1 } }] }, ['{\n  "a": 1\n}']],
  ["a text that is missing", { content: [{ type: "text" }] }, ["(A part without text.)"]],
  ["a part without a type", { content: [{ text: "words" }] }, ["words"]],
  ["a part that is a text", { content: ["words", 7, null] }, ["words", "7", "null"]],
  ["a part of nothing known", { content: [{ data: 1 }] }, ["(A part of the wrong form was left out.)"]],
  [
    "an unknown type",
    { content: [{ type: "video", data: "x" }] },
    ["(A part of the unknown type video was left out.)"],
  ],
  [
    "an unknown type with text",
    { content: [{ type: "note", text: "n" }] },
    ["(A part of the unknown type note)\nn"],
  ],
  ["the older form", { toolResult: { a: 1 } }, ['{\n  "toolResult": {\n    "a": 1\n  }\n}']],
  ["a bare text", "words", ["words"]],
  ["a bare list", ["a", { type: "text", text: "b" }], ["a", "b"]],
  ["only structure", { structuredContent: { a: 1 } }, ['{\n  "a": 1\n}']],
  [
    "structure beside a blank text",
    { content: [{ type: "text", text: "" }], structuredContent: 5 },
    ["", "5"],
  ],
  ["structure beside a text", { content: [{ type: "text", text: "five" }], structuredContent: 5 }, ["five"]],
  ["metadata alone", { _meta: { a: 1 } }, empty],
  [
    "a link without an address",
    { content: [{ type: "resource_link" }] },
    ["(A link to a resource: unknown)"],
  ],
  [
    "a picture that is none",
    { content: [{ type: "image", data: "no!", mimeType: "image/png" }] },
    ["(An image that cannot be read was left out.)"],
  ],
  [
    "a picture",
    { content: [{ type: "image", data: "aGk=", mimeType: "image/png" }] },
    ["data:image/png;base64,aGk="],
  ],
])("K15: %s reaches the model", (_, result, texts) => expect(textsOf(result)).toEqual(texts));

test("K15: tools beyond the limits are counted, not silently dropped", () => {
  const long = { type: "text", text: "x".repeat(60_000) };
  expect(textsOf({ content: [long, long, long] }).at(-1)).toBe("(2 more parts were left out.)");
  const picture = { type: "image", data: "aGk=", mimeType: "image/png" };
  expect(textsOf({ content: Array.from({ length: 11 }, () => picture) }).at(-1)).toBe(
    "(1 more part was left out.)",
  );
});
