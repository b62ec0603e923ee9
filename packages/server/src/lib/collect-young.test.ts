import { Script } from "node:vm";
import { expect, test } from "vitest";
import { openWholeCollector } from "./collect-young.ts";

/** What V8 compares before it takes code that was compiled earlier: its version, the length of the text, its flags. */
function headOfCode(): Buffer {
  return new Script("(function () { return 1; })").createCachedData().subarray(0, 16);
}

test("code compiled before a collector was opened is accepted after it, and the other way round", () => {
  const before = headOfCode();
  const collect = openWholeCollector();
  expect(headOfCode()).toEqual(before);
  collect?.();
  expect(headOfCode()).toEqual(before);
});
