import { hasMoreValues } from "@convoke/protocol";
import { expect, test } from "vitest";
import { parseJsonBody } from "./parse-json-body.ts";

const parse = (text: string): unknown => parseJsonBody(Buffer.from(text));

const faultOf = (body: string | Buffer): unknown => {
  try {
    parseJsonBody(Buffer.from(body));
  } catch (error) {
    const [{ loc, type }] = (error as { fields: [{ loc: unknown; type: string }] }).fields;
    return { loc, type };
  }
};

test("a body is what its JSON says, also behind a byte order mark", () => {
  expect(parse('\ufeff{"a":[1,{"constructor":"x"}]}')).toEqual({ a: [1, { constructor: "x" }] });
  expect(parse("null")).toBe(null);
});

test("what is no JSON is refused as a whole", () => {
  for (const text of ["{", '{"a":1}{"b":2}', "\0", " "]) {
    expect(faultOf(text)).toEqual({ loc: ["body"], type: "json_invalid" });
  }
});

test("names that reach for prototypes are refused where they are", () => {
  expect(faultOf('{"a":[{"__proto__":{"x":1}}]}')).toEqual({
    loc: ["body", "a", 0, "__proto__"],
    type: "extra_forbidden",
  });
  expect(faultOf('{"constructor":{"prototype":{"x":1}}}')).toEqual({
    loc: ["body", "constructor"],
    type: "extra_forbidden",
  });
});

test("nesting that would exhaust the stack of those who read it later is refused, and its place is named", () => {
  const nested = (levels: number): string => `{"a":{"b":${"[".repeat(levels)}${"]".repeat(levels)}}}`;
  expect(faultOf(nested(100_000))).toEqual({ loc: ["body", "a", "b", 0], type: "recursion_loop" });
  expect(JSON.stringify(parse(nested(198)))).toBe(nested(198));
});

test("security 4: a body of more values than anybody needs is refused before any of them is made", () => {
  const lists = (count: number): string => `{"x":[${"[],".repeat(count)}[]]}`;
  expect(faultOf(lists(200_000))).toEqual({ loc: ["body"], type: "too_many_values" });
  expect(faultOf("[".repeat(300_000))).toEqual({ loc: ["body"], type: "too_many_values" });
  expect(faultOf(`{${'"":{},'.repeat(300_000)}`)).toEqual({ loc: ["body"], type: "too_many_values" });
  expect(parse(lists(199_997))).toMatchObject({ x: { length: 199_998 } });
});

test("security 4: values are counted where they are, not inside of texts", () => {
  const text = JSON.stringify({ "[": '[{,\\"', b: ["\\", ",,,,,,", "\\\\\\"], c: [], d: {} });
  expect(hasMoreValues(Buffer.from(text), 8)).toBe(false);
  expect(hasMoreValues(Buffer.from(text), 7)).toBe(true);
  // A text without an end is no JSON; nobody waits for it.
  expect(hasMoreValues(Buffer.from('"\\'), 1)).toBe(false);
});

test("security 4: a long text whose only quotes are escaped is counted in the time that it takes to read it", () => {
  const before = process.threadCpuUsage();
  const long = "a".repeat(20_000_000);
  const body = Buffer.from(`["${long}\\"", "${long}\\\\", 1, "${"\\".repeat(1_000_000)}"]`);
  expect(hasMoreValues(body, 5)).toBe(false);
  expect(hasMoreValues(body, 4)).toBe(true);
  // Minutes, when each step looked for the next quote again.
  expect(process.threadCpuUsage(before).user).toBeLessThan(5_000_000);
});

test("security 35: bytes that are no UTF-8 are refused, not changed", () => {
  const broken = [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98]];
  for (const bytes of broken) {
    const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]);
    expect(faultOf(body)).toEqual({ loc: ["body"], type: "unicode_error" });
  }
  expect(parse('{"a":"\ufffd \u{1f600}"}')).toEqual({ a: "\ufffd \u{1f600}" });
});
