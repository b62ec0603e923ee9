import { expect, test } from "vitest";
import { toObservation } from "./observation.ts";
import { normalizeSchema, openSchemaBudget } from "./tool-schema.ts";

const named = (...names: readonly string[]): object => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, {}])),
});

/** Each level stands for forty of the next. */
function bomb(levels: number, width: number): Record<string, unknown> {
  const defs: [string, unknown][] = Array.from({ length: levels }, (_, at) => [
    `d${at}`,
    { anyOf: Array.from({ length: width }, () => ({ $ref: `#/$defs/d${at + 1}` })) },
  ]);
  const $defs = Object.fromEntries([...defs, [`d${levels}`, { type: "string" }]]);
  return { type: "object", properties: { x: { $ref: "#/$defs/d0" } }, $defs };
}

test("references are put in place, names of any kind stay", () => {
  const schema = JSON.parse(
    '{"properties":{"a":{"$ref":"#/$defs/t"},"__proto__":{"type":"null"}},"$defs":{"t":{"type":"string"}}}',
  ) as unknown;
  expect(JSON.stringify(normalizeSchema(schema))).toBe(
    '{"properties":{"a":{"type":"string"},"__proto__":{"type":"null"}},"type":"object"}',
  );
});

test("security 2: of references that stand for more than any memory holds the names are left, at once", () => {
  const before = process.threadCpuUsage();
  expect(normalizeSchema(bomb(7, 40))).toEqual(named("x"));
  const long = { $ref: "#/$defs/long" };
  const repeated = {
    properties: Object.fromEntries(Array.from({ length: 4_000 }, (_, at) => [`p${at}`, long])),
    $defs: { long: { description: "x".repeat(60_000) } },
  };
  expect(normalizeSchema(repeated)).toEqual(named(...Object.keys(repeated.properties)));
  expect(process.threadCpuUsage(before).user).toBeLessThan(2_000_000);
});

test("security 2: the schemas of one server have a total limit too", () => {
  const schema = bomb(2, 30);
  const budget = openSchemaBudget();
  const normalized = Array.from({ length: 500 }, () => normalizeSchema(schema, budget)).filter(
    (normal) => JSON.stringify(normal) !== JSON.stringify(named("x")),
  );
  expect(normalized.length).toBeGreaterThan(50);
  expect(normalized.length).toBeLessThan(500);
});

test("security 2: structured content that is deep or large is left out in words", () => {
  const deep: unknown = JSON.parse(`${"[".repeat(5_000)}${"]".repeat(5_000)}`);
  expect(toObservation("t", { structuredContent: deep }).content?.at(-1)).toMatchObject({
    text: "(Structured content was left out: it is too large.)",
  });
});
