import fc from "fast-check";
import { expect, test } from "vitest";
import type { ToolListing } from "@convoke/tool-host";
import { listMcpTool } from "../extensions/mcp/tool-listing.ts";
import { toModelTool } from "./tool-schema.ts";

type Json = Record<string, unknown>;
const text = { type: "string" };
const mode = (value: string) => ({ type: "string", const: value });

/** With `so` under the keyword of JSON Schema. */
const conditional = <Part>({ so, ...rest }: Record<string, Part>): Record<string, Part> => {
  // oxlint-disable-next-line unicorn/no-thenable -- it is a schema, which nobody awaits
  return { ...rest, then: so! };
};

const mcp = (inputSchema: object): ToolListing =>
  listMcpTool("t", { name: "t", description: "Does it.", inputSchema });
const client = (parameters: object): ToolListing => ({
  ...mcp({}),
  actionKind: "ClientAction_t",
  parameters: parameters as Json,
});

function shown(tool: ToolListing): { properties: Json; required: unknown; rules: string } {
  const { description, parameters } = toModelTool(tool, false);
  const { summary: _, ...properties } = parameters["properties"] as Json;
  return { properties, required: parameters["required"], rules: description.replace(/^Does it\.\n?/, "") };
}

test("K9: what all parts of a schema say is one list", () => {
  const schema = {
    type: "object",
    allOf: [{ properties: { a: text }, required: ["a"] }, { $ref: "#/$defs/more" }],
    $defs: { more: { allOf: [{ properties: { b: { type: "integer" } } }], required: ["b"] } },
  };
  for (const tool of [mcp(schema), client(schema)])
    expect(shown(tool)).toMatchObject({
      properties: { a: text, b: { type: "integer" } },
      required: ["a", "b"],
    });
  expect(toModelTool(client(schema), false).parameters).not.toHaveProperty("allOf");
});

test("K9: the arguments of choices can all be left out, and the rule is said in words", () => {
  const choices = [
    { properties: { mode: mode("file"), path: text, lines: text }, required: ["mode", "path"] },
    { properties: { mode: mode("url"), url: text }, required: ["mode", "url"] },
  ];
  expect(
    shown(mcp({ type: "object", properties: { note: text }, required: ["note"], oneOf: choices })),
  ).toEqual({
    properties: {
      note: text,
      mode: { type: "string", enum: ["file", "url"] },
      path: text,
      lines: text,
      url: text,
    },
    required: ["note"],
    rules:
      "Give the arguments of exactly one of these: " +
      '(mode = "file", path, optionally lines) or (mode = "url", url).',
  });
  expect(
    shown(mcp({ properties: { a: text, b: text }, anyOf: [{ required: ["a"] }, { required: ["b"] }] })),
  ).toEqual({
    properties: { a: text, b: text },
    required: undefined,
    rules: "Give the arguments of at least one of these: (a) or (b).",
  });
});

test("K9: one argument with other values in each choice takes all of them", () => {
  const schema = {
    oneOf: [{ properties: { a: { type: "string" } } }, { properties: { a: { type: "integer" } } }],
  };
  expect(shown(mcp(schema)).properties).toEqual({ a: { anyOf: [{ type: "string" }, { type: "integer" }] } });
});

test("K9: conditions, dependents, free names and names that are only required are described", () => {
  const found = shown(
    mcp({
      properties: { kind: text },
      required: ["odd"],
      ...conditional({
        if: { properties: { kind: { const: "x" } } },
        so: { properties: { size: { type: "integer" } }, required: ["size"] },
      }),
      dependentRequired: { from: ["to"] },
      patternProperties: { "^x-": { type: "boolean" } },
      additionalProperties: { type: "number" },
      not: { required: ["size", "kind"] },
      minProperties: 1,
    }),
  );
  expect(Object.keys(found.properties)).toEqual(["kind", "odd", "size", "from", "to"]);
  expect(found.rules.split("\n")).toEqual([
    'With (kind = "x") give (size).',
    "With (from) give (to).",
    "Do not give (size, kind).",
    'Arguments whose names fit ^x- are taken too, each as this schema says: {"type":"boolean"}.',
    'Arguments of any other name are taken too, each as this schema says: {"type":"number"}.',
    "Give at least 1 of the arguments.",
  ]);
});

test("K9: a reference beside properties hides none of them, and names its target by any JSON pointer", () => {
  const schema = {
    $ref: "#/definitions/a~1b/nested",
    properties: { own: text, again: { $ref: "#/properties/own" } },
    definitions: { "a/b": { nested: { properties: { base: text } } } },
  };
  expect(shown(mcp(schema)).properties).toEqual({ own: text, again: text, base: text });
});

test("K9: of a schema that is too large the names of the arguments are left", () => {
  const large = { properties: { a: { description: "x".repeat(70_000) }, b: text }, required: ["a"] };
  expect(shown(mcp(large))).toMatchObject({ properties: { a: {}, b: {} }, required: ["a"] });
});

test("K9: no argument of any schema is missing in the model's description", () => {
  const name = fc.constantFrom("a", "b", "c", "d", "e", "summary", "security_risk", "__proto__");
  const leaf = fc.constantFrom<unknown>(true, {}, text, { type: "integer" }, mode("x"), { enum: [1, 2] });
  const schemaOf = (depth: number): fc.Arbitrary<Json> => {
    const part = depth === 0 ? fc.constant({}) : schemaOf(depth - 1);
    const parts = fc.array(part, { maxLength: 2 });
    const fields = {
      properties: fc.dictionary(name, leaf, { maxKeys: 3 }),
      required: fc.array(name, { maxLength: 2 }),
      $ref: fc.constantFrom("#/$defs/one", "#/$defs/two", "#"),
    };
    const composed = { allOf: parts, anyOf: parts, oneOf: parts, ...conditional({ so: part }), else: part };
    const dependentSchemas = fc.dictionary(name, part, { maxKeys: 1 });
    const all = depth === 0 ? fields : { ...fields, ...composed, dependentSchemas };
    return fc.record<Json>(all, { requiredKeys: [] });
  };
  const schema = schemaOf(2);
  fc.assert(
    fc.property(schema, schema, schema, (root, one, two) => {
      const whole = { ...root, $defs: { one, two } };
      const names = new Set([...namesIn(root), ...reached(whole)]);
      for (const tool of [mcp(whole), client(whole)]) {
        const { properties } = toModelTool(tool, false).parameters as { properties: object };
        for (const wanted of names) expect(Object.hasOwn(properties, wanted)).toBe(true);
      }
    }),
    { numRuns: 100 },
  );
});

/** Every name that a schema gives to an argument, without what its references lead to. */
function namesIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { properties = {}, required = [], ...rest } = schema as Json;
  const below = ["allOf", "anyOf", "oneOf", "then", "else"].flatMap((keyword) => [rest[keyword]].flat());
  const dependents = (rest["dependentSchemas"] ?? {}) as Json;
  return [
    ...Object.keys(properties as object),
    ...(required as string[]),
    ...Object.keys(dependents),
    ...[...below, ...Object.values(dependents)].flatMap(namesIn),
  ];
}

function reached(root: Json): string[] {
  const used = new Set<string>();
  const visit = (text: string): void => {
    for (const [, name] of text.matchAll(/"\$ref":"#\/\$defs\/(one|two)"/g)) {
      if (used.has(name!)) continue;
      used.add(name!);
      visit(JSON.stringify((root["$defs"] as Json)[name!]));
    }
  };
  const { $defs: defs, ...rest } = root;
  visit(JSON.stringify(rest));
  return [...used].flatMap((name) => namesIn((defs as Json)[name]));
}
