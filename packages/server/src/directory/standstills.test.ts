import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recordFileIn, Standstills } from "./standstills.ts";

/** What is known after processes ended with these records, one after another. */
async function after(...records: (object | string)[]): Promise<Standstills> {
  const directory = await mkdtemp(join(tmpdir(), "convoke-standstills-"));
  try {
    for (const record of records) {
      await writeFile(recordFileIn(directory), typeof record === "string" ? record : JSON.stringify(record));
      await Standstills.open(directory);
    }
    return await Standstills.open(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

const names = (standstills: Standstills): object =>
  Object.fromEntries(
    ["a", "b", "c"].map((id) => [
      id,
      standstills.isSetAside(id) ? "aside" : standstills.isSuspect(id) ? "suspect" : "free",
    ]),
  );

test.each<[string, (object | string)[], object]>([
  ["nothing", [], { a: "free", b: "free", c: "free" }],
  ["one standstill", [{ last: "a", working: ["a", "b"] }], { a: "suspect", b: "suspect", c: "free" }],
  [
    "two with one of them at work both times",
    [
      { last: "a", working: ["a", "b"] },
      { last: "a", working: ["a", "b"] },
    ],
    { a: "aside", b: "suspect", c: "free" },
  ],
  [
    "two with different ones",
    [
      { last: "a", working: ["a"] },
      { last: "c", working: ["c"] },
    ],
    { a: "suspect", b: "free", c: "suspect" },
  ],
  ["a record that was cut off", ['{"last":"a","wor'], { a: "free", b: "free", c: "free" }],
  ["a record without names", [{ last: null, working: [] }], { a: "free", b: "free", c: "free" }],
])("P2: after %s", async (_, records, expected) => {
  expect(names(await after(...records))).toEqual(expected);
});
