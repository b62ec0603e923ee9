import { expect, expectTypeOf, test } from "vitest";
import { withoutUndefined } from "./without-undefined.ts";

test("fields that are undefined are gone, others stay in their order", () => {
  const text = "text" as string | undefined;
  const fields = withoutUndefined({ last: null, gone: undefined as number | undefined, text, zero: 0 });
  expect(fields).toStrictEqual({ last: null, text: "text", zero: 0 });
  expect(Object.keys(fields)).toEqual(["last", "text", "zero"]);
  expectTypeOf(fields).toExtend<{ last: null; gone?: number; text?: string; zero: number }>();
});
