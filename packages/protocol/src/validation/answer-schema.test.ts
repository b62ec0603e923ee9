import { expect, test } from "vitest";
import { answerSchemaFault } from "./answer-schema.ts";

test("an object schema with references within itself can be the schema of an answer", () => {
  const schema = {
    type: "object",
    properties: { tree: { $ref: "#/$defs/Tree" }, name: { type: "string", pattern: "^a" } },
    required: ["tree"],
    $defs: { Tree: { type: "object", properties: { kids: { items: { $ref: "#/$defs/Tree" } } } } },
  };
  expect(answerSchemaFault(schema)).toBeNull();
  expect(answerSchemaFault({ type: "object" })).toBeNull();
});

const deep = (levels: number): object => (levels === 0 ? {} : { not: deep(levels - 1) });

test.each([
  [null, "type object"],
  [[], "type object"],
  [{ properties: {} }, "type object"],
  [{ type: "array" }, "type object"],
  [{ type: "object", description: "x".repeat(40_000) }, "at most 32768"],
  [{ type: "object", properties: { a: { $ref: "https://example.com/a.json" } } }, "leads out of the schema"],
  [{ type: "object", properties: { a: { $ref: "#/$defs/None" } } }, "valid JSON Schema"],
  [{ type: "object", properties: { a: { type: "thing" } } }, "valid JSON Schema"],
  [{ type: "object", properties: { a: deep(70) } }, "nested at most"],
])("a schema that cannot be used is refused with the fix: %#", (schema, words) => {
  expect(answerSchemaFault(schema)).toContain(words);
});
