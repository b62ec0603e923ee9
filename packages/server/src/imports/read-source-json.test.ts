import { expect, test } from "vitest";
import { readSourceJson } from "./read-source-json.ts";

test.each<[what: string, bytes: Buffer, says: RegExp]>([
  ["other bytes than text", Buffer.from([0x22, 0xff, 0x22]), /is not UTF-8/],
  ["nothing", Buffer.from(" \n"), /is empty/],
  ["a number without end", Buffer.from("[1e999]"), /too large/],
  ["very many values", Buffer.from(`[${"1,".repeat(200_001)}1]`), /more than 200000 values/],
])("%s is refused with the name of the file", (_what, bytes, says) => {
  expect(() => readSourceJson(bytes, "x.json", 9)).toThrow(says);
  expect(() => readSourceJson(bytes, "x.json", 9)).toThrow(/^x\.json /);
});

test("what is in texts is not counted as depth", () => {
  expect(readSourceJson(Buffer.from('["[[[[\\"[[[["]'), "x.json", 2)).toEqual(['[[[["[[[[']);
});
