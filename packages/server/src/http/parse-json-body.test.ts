import { expect, test } from "vitest";
import { parseJsonBody } from "./parse-json-body.ts";

const faultOf = (text: string): unknown => {
  try {
    return parseJsonBody(text);
  } catch (error) {
    const [{ loc, type }] = (error as { fields: [{ loc: unknown; type: string }] }).fields;
    return { loc, type };
  }
};

test("a body is what its JSON says, also behind a byte order mark", () => {
  expect(parseJsonBody('\ufeff{"a":[1,{"constructor":"x"}]}')).toEqual({ a: [1, { constructor: "x" }] });
  expect(parseJsonBody("null")).toBe(null);
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
  expect(JSON.stringify(parseJsonBody(nested(198)))).toBe(nested(198));
});
