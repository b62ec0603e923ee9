import { expect, test } from "vitest";
import { createMask } from "./mask.ts";

test("P13: a secret is hidden in every text of an event, plain and encoded", () => {
  const secret = 'canary-"7f3a"-value';
  const mask = createMask([secret]);
  const event = { kind: "MessageEvent", a: `x ${secret} y`, b: [Buffer.from(secret).toString("base64")] };
  expect(JSON.parse(mask(JSON.stringify(event)))).toEqual({
    kind: "MessageEvent",
    a: "x <secret-hidden> y",
    b: ["<secret-hidden>"],
  });
});

test("P56: structure, ids and images stay as they are, even when a secret equals a word of the wire", () => {
  const mask = createMask(["terminal", "user", "iVBORw0KGgo"]);
  const event = {
    kind: "MessageEvent",
    source: "user",
    tool_name: "terminal",
    llm_message: {
      role: "user",
      content: [{ type: "image", image_urls: ["data:image/png;base64,iVBORw0KGgoAAAA"] }],
    },
  };
  expect(mask(JSON.stringify(event))).toBe(JSON.stringify(event));
});

test("without secrets the text is returned as it is", () => {
  expect(createMask([])('{"a":1}')).toBe('{"a":1}');
});
