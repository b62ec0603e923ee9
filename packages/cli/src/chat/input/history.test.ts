import { mkdtempDisposable, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { History } from "./history.ts";

test("what was sent is there again in its folder, for its user alone; the draft is not lost on the way", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-history-"));
  const file = join(folder.path, "state/history");
  const first = await History.open(file, "/a");
  for (const text of ["one", "two\nlines", "two\nlines", " not this"]) await first.add(text);
  await (await History.open(file, "/b")).add("elsewhere");
  const again = await History.open(file, "/a");
  expect(again.texts()).toEqual(["two\nlines", "one"]);
  expect([again.older("draft"), again.older("x"), again.older("x")]).toEqual(["two\nlines", "one", null]);
  expect([again.newer(), again.newer(), again.newer()]).toEqual(["two\nlines", "draft", null]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("a thousand entries stay, and a line that was cut off is left out", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-history-"));
  const file = join(folder.path, "history");
  const history = await History.open(file, "/a");
  for (let index = 0; index < 1_005; index += 1) await history.add(`text ${index}`);
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  expect(lines).toHaveLength(1_000);
  await writeFile(file, `${lines.slice(-2).join("\n")}\n{"folder":"/a","te`);
  expect((await History.open(file, "/a")).texts()).toEqual(["text 1004", "text 1003"]);
});
