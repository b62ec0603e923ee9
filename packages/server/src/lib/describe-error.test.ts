import { expect, test } from "vitest";
import { describeError } from "./describe-error.ts";

test("whatever is thrown has a text", () => {
  const thrown = [new Error("broken"), new TypeError(""), "a text", null, undefined, 7];
  expect(thrown.map(describeError)).toEqual(["broken", "", "a text", "null", "undefined", "7"]);
});
