import { chmod, mkdir, readFile, readdir, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { runCachedScript } from "./cached-script.ts";

type Answer = { readonly answer: () => number };

const wrap = (body: string): string =>
  `(function (exports, require, module, __filename, __dirname) {\n${body}\n})`;

/** A script whose text tells what it answers, with a function of a size that is worth keeping. */
const scriptOf = (answer: number): string =>
  wrap(`exports.answer = function answer() { let sum = ${answer}; for (const one of [0, 0, 0]) sum += one; return sum; };
  exports.file = __filename; exports.late = () => require("./late.cjs");`);

async function openScript(answer = 1, builtName: string | null = null) {
  const folder = await openTemporaryDirectory();
  const file = join(folder.path, "main.cjs");
  const cacheFile = join(folder.path, "kept", "main");
  const builtFile = builtName === null ? null : join(folder.path, builtName);
  await writeFile(file, scriptOf(answer));
  const run = () => {
    const { exports, keep } = runCachedScript(file, { cacheFile, builtFile });
    return { ...(exports as Answer & { file: string; late: () => unknown }), keep };
  };
  return { folder, file, cacheFile, run, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

test("what ran is kept, for the user alone, and taken by the next start", async () => {
  await using script = await openScript();
  const first = script.run();
  expect(first.answer()).toBe(1);
  expect(first.file).toBe(script.file);
  first.keep({ isWhole: true });
  const cached = await readFile(script.cacheFile);
  expect(await readdir(join(script.folder.path, "kept"))).toEqual(["main"]);
  const next = script.run();
  next.keep({ isWhole: true });
  expect(next.answer()).toBe(1);
  expect(await readFile(script.cacheFile)).toEqual(cached);
});

test("another text of the same length runs as it is, and takes the place of the one before", async () => {
  await using script = await openScript(1);
  const first = script.run();
  first.answer();
  first.keep({ isWhole: true });
  const cached = await readFile(script.cacheFile);
  await writeFile(script.file, scriptOf(2));
  const next = script.run();
  expect(next.answer()).toBe(2);
  next.keep({ isWhole: true });
  expect(await readFile(script.cacheFile)).not.toEqual(cached);
  expect(script.run().answer()).toBe(2);
});

test.each([
  ["half of it", (cached: Buffer) => cached.subarray(0, cached.length / 2)],
  [
    "one wrong byte",
    (cached: Buffer) => Buffer.concat([cached.subarray(0, -1), Buffer.from([cached.at(-1)! ^ 1])]),
  ],
  ["nothing", () => Buffer.alloc(0)],
  ["of another version", (cached: Buffer) => cached.fill(0, 12, 16)],
])("what is kept and damaged is not run: %s", async (_, damage) => {
  await using script = await openScript();
  const first = script.run();
  first.answer();
  first.keep({ isWhole: true });
  const whole = await readFile(script.cacheFile);
  await writeFile(script.cacheFile, damage(Buffer.from(whole)));
  const next = script.run();
  expect(next.answer()).toBe(1);
  next.keep({ isWhole: true });
  expect((await readFile(script.cacheFile)).length).toBe(whole.length);
});

test("what is kept as whole takes the place of what is not, and stays", async () => {
  await using script = await openScript();
  const size = async (): Promise<number> => (await stat(script.cacheFile)).size;
  script.run().keep({ isWhole: false });
  const small = await size();
  const first = script.run();
  first.answer();
  first.keep({ isWhole: false });
  expect(await size()).toBe(small);
  first.keep({ isWhole: true });
  const large = await size();
  expect(large).toBeGreaterThan(small);
  const next = script.run();
  next.keep({ isWhole: false });
  next.keep({ isWhole: true });
  expect(await size()).toBe(large);
});

test("what others could have written is not run, and replaced", async () => {
  await using script = await openScript();
  script.run().keep({ isWhole: true });
  await chmod(script.cacheFile, 0o666);
  script.run().keep({ isWhole: true });
  const { mode } = await stat(script.cacheFile);
  expect(mode & 0o777).toBe(0o600);
});

test("where nothing can be kept the script runs all the same", async () => {
  await using script = await openScript();
  await mkdir(script.cacheFile, { recursive: true });
  const first = script.run();
  first.keep({ isWhole: true });
  expect(first.answer()).toBe(1);
  expect(await readdir(join(script.folder.path, "kept"))).toEqual(["main"]);
});

test("what the build compiled is taken where nothing is kept, and nothing is kept then", async () => {
  await using script = await openScript(1, "main.built");
  const first = script.run();
  first.answer();
  first.keep({ isWhole: true });
  await rename(script.cacheFile, join(script.folder.path, "main.built"));
  const next = script.run();
  expect(next.answer()).toBe(1);
  expect(next.keep({ isWhole: true })).toBe(false);
  expect(await readdir(join(script.folder.path, "kept"))).toEqual([]);
});

test("what the build compiled of another text is not taken", async () => {
  await using script = await openScript(1, "main.built");
  script.run().keep({ isWhole: true });
  await rename(script.cacheFile, join(script.folder.path, "main.built"));
  await writeFile(script.file, scriptOf(2));
  const next = script.run();
  expect(next.answer()).toBe(2);
  expect(next.keep({ isWhole: true })).toBe(true);
});

test("without a place for it nothing is kept, and the script runs", async () => {
  await using script = await openScript();
  const { exports, keep } = runCachedScript(script.file, { cacheFile: null, builtFile: null });
  expect((exports as Answer).answer()).toBe(1);
  keep({ isWhole: true });
  expect(await readdir(script.folder.path)).toEqual(["main.cjs"]);
});

test("a late part that requires the script gets the one that runs", async () => {
  await using script = await openScript();
  await writeFile(join(script.folder.path, "late.cjs"), `module.exports = require("./main.cjs");`);
  const { late, answer } = script.run();
  expect((late() as Answer).answer).toBe(answer);
});
