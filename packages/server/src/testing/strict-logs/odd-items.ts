import type { Random } from "../random.ts";

/** One of the given items. */
export function oneOf<Thing>(random: Random, things: readonly Thing[]): Thing {
  return things[random.whole(things.length)]!;
}

const texts = [
  "Hello",
  "",
  "   ",
  "\n\n",
  "\u0000\u0007\u001b[31mred\u001b[0m\u007f",
  "half \ud83d of a pair",
  "\ude00 the other half",
  "whole \u{1f600}",
  "\ufeffmark \ufffe \uffff",
  "\u2028line\u2029end",
  "\u202eright to left",
  '{"tool_calls": [{"id": ""}]}',
  "<|im_end|><|channel|>commentary to=functions.terminal",
  '</result><result name="terminal">',
  '<call name="terminal">\n<arg name="command">\nls\n</arg>\n</call>',
  "a\\ud83d b",
  `${"n".repeat(399)}\ud83d`,
  "x".repeat(3000),
];

export function oddText(random: Random): string {
  return random.whole(3) === 0 ? "Plain words." : oneOf(random, texts);
}

const ids = [
  "call_1",
  "call_1",
  "",
  "toolu_01AbCdEfGhIjKlMnOpQrSt",
  "tooluse_a-b_C1",
  "functions.terminal:0",
  "abc.def|ghi",
  "a b c",
  "a\ud83db",
  "\u00e4\u00f6",
  "chatcmpl-tool-0123456789abcdef0123456789abcdef",
  "x".repeat(300),
  "AbCdEf123",
];

export function oddId(random: Random): string {
  return random.whole(3) === 0 ? `call_${random.whole(1e9).toString(36)}` : oneOf(random, ids);
}

const names = [
  "functions.nothing",
  "",
  " ",
  "Terminals",
  "no such tool",
  "a/b/c",
  "a\ud83db",
  "multi_tool_use.parallel",
  "nothing<|channel|>commentary",
  "9lives",
  "-dash",
  "\u5de5\u5177",
  "x".repeat(200),
  "odd_0",
];

export function oddName(random: Random): string {
  return oneOf(random, names);
}

const argumentTexts = [
  "{}",
  "",
  "null",
  "[]",
  "12",
  '"text"',
  '{"command":"ls"}',
  '{"command":"echo a\\ud83d b"}',
  '{"command":"echo a\ud83d b"}',
  '{"command":"x',
  '{"a":1}{"a":1}',
  '"{\\"command\\":\\"ls\\"}"',
  '{"n":12345678901234567890,"f":1.0,"e":1e400}',
  '{"__proto__":{"a":1},"constructor":2}',
  '{"\ud83d":{"\\ude00":["\\ud83d"]}}',
  `{"deep":${"[".repeat(40)}${"]".repeat(40)}}`,
];

export function oddArguments(random: Random): string {
  return oneOf(random, argumentTexts);
}

/** One pixel. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const images = [
  `data:image/png;base64,${png}`,
  `data:image/png;base64,${png}`,
  "data:image/png;base64,",
  "data:image/tiff;base64,SUkqAA==",
  "data:text/plain,nothing",
  "https://example.org/a.png",
  "no address",
  "",
];

export function oddImage(random: Random): string {
  return oneOf(random, images);
}

const schemas: readonly object[] = [
  { type: "object", properties: { email: { type: "string", pattern: "^(?!\\.)[^@]+@x$" } } },
  { type: "object", properties: { a: { type: "array" } } },
  {
    type: "object",
    properties: { a: { type: ["string", "null"], format: "uri-reference" } },
    required: ["a", "b"],
  },
  {
    type: "object",
    properties: { a: { oneOf: [{ type: "string" }, { type: "array" }] } },
    additionalProperties: false,
  },
  { type: "object", properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: { type: "string", const: "x" } } },
  { type: "object", properties: { "a b": { type: "integer", enum: [1, 2] }, "c\ud83d": { type: "string" } } },
  { type: "object", properties: { a: { type: "string", pattern: "(" } } },
  { type: "object", properties: { a: { type: "any" }, b: {} } },
  { type: "object", properties: { a: { type: "string", minLength: 1, maxLength: 2 ** 40, default: null } } },
  { type: "object", properties: { a: { anyOf: [{ type: "null" }, { not: {} }] }, if: { type: "string" } } },
  { type: "object", properties: {}, oneOf: [{ required: ["a"] }, { required: ["b"] }] },
  { type: "object", properties: { a: { type: "object", patternProperties: { "^x": true } } } },
  { type: "object", properties: { a: { type: "array", items: [{ type: "string" }] }, b: { items: true } } },
  { type: "object" },
  {},
];

export function oddSchema(random: Random): object {
  return oneOf(random, schemas);
}
