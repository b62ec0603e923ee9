import { utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { watchLeaks } from "../../testing/leaks.ts";
import type { LeakCheck } from "../../testing/leaks.ts";
import { openTool } from "../../testing/open-tool.ts";
import { globTool } from "./glob-tool.ts";

let leaks: LeakCheck;
beforeEach(() => {
  leaks = watchLeaks();
});
afterEach(async () => leaks.assertNone());

const tree = {
  "a.py": "",
  "src/b.py": "",
  "src/deep/c.py": "",
  "src/deep/d.ts": "",
  "src/e.tsx": "",
  "-dash.py": "",
};

test("tools 20.5.1: without a slash a pattern matches at any depth, with one it begins at the searched directory", async () => {
  const bench = await openBench(tree);
  expect(await bench.names("*.py")).toEqual(["-dash.py", "a.py", "src/b.py", "src/deep/c.py"]);
  expect(await bench.names("src/*.py")).toEqual(["src/b.py"]);
  expect(await bench.names("./src/*.py")).toEqual(["src/b.py"]);
  expect(await bench.names("src/*")).toEqual(["src/b.py", "src/e.tsx"]);
  expect(await bench.names("src/**/*.py")).toEqual(["src/b.py", "src/deep/c.py"]);
  expect(await bench.names("**/c.py")).toEqual(["src/deep/c.py"]);
  expect(await bench.names("src/deep/c.py")).toEqual(["src/deep/c.py"]);
  expect(await bench.names("src/")).toEqual(["src/b.py", "src/deep/c.py", "src/deep/d.ts", "src/e.tsx"]);
  expect(await bench.names("deep/*.py", "src")).toEqual(["src/deep/c.py"]);
  for (const everything of ["", "*", "**", "**/*"])
    expect(await bench.names(everything)).toEqual(Object.keys(tree).sort());
  expect(await bench.names("!*.py")).toEqual(["src/deep/d.ts", "src/e.tsx"]);
});

test("tools 20.5.2: an absolute pattern is split where its wildcards begin", async () => {
  const bench = await openBench(tree);
  const src = join(bench.dir, "src");
  const observation = await bench.glob(`${src}/**/*.ts`);
  expect(observation).toMatchObject({
    search_path: src,
    files: [join(src, "deep/d.ts")],
    pattern: `${src}/**/*.ts`,
  });
  expect(await bench.names(`${bench.dir}/{src,lib}/*.py`)).toEqual(["src/b.py"]);
  expect(await bench.names(`${src}/deep`)).toEqual(["src/deep/c.py", "src/deep/d.ts"]);
  expect(await bench.names(`${src}/b.py`)).toEqual(["src/b.py"]);
  expect(await bench.names(`${src}/*.py`, bench.dir)).toEqual(["src/b.py"]);
  expect(await bench.glob(`${src}/*.py`, join(src, "deep"))).toMatchObject({ is_error: true });
  expect(await bench.glob("../*/src/*.py")).toMatchObject({ files: [join(src, "b.py")] });
});

test("tools 20.5.3: braces", async () => {
  const bench = await openBench(tree);
  expect(await bench.names("*.{ts,tsx}")).toEqual(["src/deep/d.ts", "src/e.tsx"]);
});

test("tools 20.5.4: hidden and ignored files appear only when the pattern names them", async () => {
  const bench = await openBench({
    ".git/config": "",
    ".gitignore": "*.log\nbuild\n.env\n",
    ".env": "",
    ".github/flow.yml": "",
    "a.yml": "",
    "x.log": "",
    "build/out.js": "",
    "build/deep/out.js": "",
  });
  for (const everything of ["", "*", "**/*"]) expect(await bench.names(everything)).toEqual(["a.yml"]);
  expect(await bench.names("*.yml")).toEqual(["a.yml"]);
  expect(await bench.names("*.js")).toEqual([]);
  expect(await bench.names("*.log")).toEqual(["x.log"]);
  expect(await bench.names(".env")).toEqual([".env"]);
  expect(await bench.names(".env*")).toEqual([".env"]);
  expect(await bench.names(".github/*.yml")).toEqual([".github/flow.yml"]);
  expect(await bench.names("**/.github/**/*.yml")).toEqual([".github/flow.yml"]);
  expect(await bench.names("build/**/*.js")).toEqual(["build/deep/out.js", "build/out.js"]);
  expect(await bench.names("build/**")).toEqual(["build/deep/out.js", "build/out.js"]);
  expect(await bench.names(".git/config")).toEqual([".git/config"]);
});

test("tools 20.5.5: the newest come first", async () => {
  const bench = await openBench({ "old.txt": "", "new.txt": "", "middle.txt": "" });
  for (const [name, seconds] of [
    ["old.txt", 1_000],
    ["middle.txt", 2_000],
    ["new.txt", 3_000],
  ] as const) {
    await utimes(join(bench.dir, name), seconds, seconds);
  }
  const { files } = await bench.glob("*.txt");
  expect(files).toEqual(["new.txt", "middle.txt", "old.txt"].map((name) => join(bench.dir, name)));
});

test("tools 20.5.6: a hundred files are complete, one more is truncated to the newest hundred", async () => {
  const names = Array.from({ length: 100 }, (_, index) => `f${index}.txt`);
  const bench = await openBench(Object.fromEntries(names.map((name) => [name, ""])));
  expect(await bench.glob("*.txt")).toMatchObject({
    truncated: false,
    files: expect.objectContaining({ length: 100 }),
  });
  await writeFile(join(bench.dir, "oldest.txt"), "");
  await utimes(join(bench.dir, "oldest.txt"), 1, 1);
  const observation = await bench.glob("*.txt");
  expect(observation).toMatchObject({ truncated: true, files: expect.objectContaining({ length: 100 }) });
  expect(observation.files).not.toContain(join(bench.dir, "oldest.txt"));
  expect(JSON.stringify(observation.content)).toContain("Only the newest 100");
});

test("tools 20.5.7: a bad directory and a bad pattern are errors", async () => {
  const bench = await openBench({ "a.txt": "" });
  expect(await bench.glob("*", "absent")).toMatchObject({ is_error: true, search_path: "absent", files: [] });
  expect(await bench.glob("*", "a.txt")).toMatchObject({ is_error: true });
  expect(await bench.glob("/absent/*.txt")).toMatchObject({ is_error: true });
  for (const pattern of ["[", "{a", "a{b", "x/[z-a]"]) {
    const observation = await bench.glob(pattern);
    expect(observation).toMatchObject({ is_error: true, files: [], pattern });
    expect(JSON.stringify(observation.content)).toContain("refused");
  }
});

test("tools 20.5.10: a pattern that begins with a dash is data", async () => {
  const bench = await openBench(tree);
  expect(await bench.names("-dash.*")).toEqual(["-dash.py"]);
  expect(await bench.names("--files")).toEqual([]);
});

const oddTree = {
  "app/[id]/page.tsx": "",
  "app/i/page.tsx": "",
  "app/[user-id]/[a].tsx": "",
  "app/[[...slug]]/page.ts": "",
  "app/(group)/page.tsx": "",
  "{id}.json": "",
  "id.json": "",
  "a{b": "",
  "a[b": "",
  "a\\b": "",
  "#x#": "",
  "!important": "",
  "end ": "",
  "what?": "",
};

test.each([
  ["app/[id]/page.tsx", ["app/[id]/page.tsx", "app/i/page.tsx"]],
  ["[a].tsx", ["app/[user-id]/[a].tsx"]],
  ["app/[user-id]/*.{ts,tsx}", ["app/[user-id]/[a].tsx"]],
  ["app/[[...slug]]/page.ts", ["app/[[...slug]]/page.ts"]],
  ["app/[[...slug]]/*", ["app/[[...slug]]/page.ts"]],
  ["app/(group)/page.tsx", ["app/(group)/page.tsx"]],
  ["{app,lib}/[id]/*", ["app/[id]/page.tsx", "app/i/page.tsx"]],
  ["{id}.json", ["id.json", "{id}.json"]],
  ["a{b", ["a{b"]],
  ["a[b", ["a[b"]],
  ["a\\b", ["a\\b"]],
  ["app/\\[id\\]/page.tsx", ["app/[id]/page.tsx"]],
  ["#x#", ["#x#"]],
  ["#*", ["#x#"]],
  ["!important", ["!important"]],
  ["end ", ["end "]],
  ["what?", ["what?"]],
])("K11: %s finds what is named so", async (pattern, names) => {
  const bench = await openBench(oddTree);
  expect(await bench.names(pattern)).toEqual(names);
  if (!pattern.startsWith("!")) expect(await bench.names(`${bench.dir}/${pattern}`)).toEqual(names);
});

test("K18: blanks of another kind and marks composed otherwise are found", async () => {
  const bench = await openBench({
    "a/Screenshot 10\u202fAM.png": "",
    "a/e\u0301te\u0301.txt": "",
    "a/caf\u00e9.txt": "",
  });
  expect(await bench.names("Screenshot 10 AM.png")).toEqual(["a/Screenshot 10\u202fAM.png"]);
  expect(await bench.names("a/\u00e9t*.txt")).toEqual(["a/e\u0301te\u0301.txt"]);
  expect(await bench.names("cafe\u0301.*")).toEqual(["a/caf\u00e9.txt"]);
});

test("K11: a workspace with brackets in its name is searched by absolute patterns; a failed search explains brackets", async () => {
  const bench = await openBench(oddTree);
  expect(await bench.names("[user-id]/*.tsx", "app")).toEqual(["app/[user-id]/[a].tsx"]);
  expect(await bench.names("*.tsx", "app/[id]")).toEqual(["app/[id]/page.tsx"]);
  expect(await bench.names(`${bench.dir}/app/[id]/*.tsx`, "app/[id]")).toEqual(["app/[id]/page.tsx"]);
  expect(JSON.stringify(await bench.glob("[zz]/x"))).toContain("also looked for as parts of names");
});

test("tools 20.5.11: no match is not an error and says so", async () => {
  const bench = await openBench(tree);
  const observation = await bench.glob("*.rs");
  expect(observation).toMatchObject({ is_error: false, files: [], truncated: false, search_path: bench.dir });
  expect(JSON.stringify(observation.content)).toContain("No file matches");
});

async function openBench(files: Readonly<Record<string, string>>) {
  const bench = await openTool(globTool, files);
  onTestFinished(async () => bench[Symbol.asyncDispose]());
  const dir = bench.context.workspaceDir;
  const glob = async (pattern: string, path?: string) => {
    const place = path === undefined ? {} : { path };
    const observation = await bench.execute({ kind: "GlobAction", pattern, ...place });
    if (observation.kind !== "GlobObservation") throw new Error(`Unexpected ${observation.kind}`);
    return observation;
  };
  return {
    dir,
    glob,
    /** The found files, relative to the workspace and sorted. */
    names: async (...input: Parameters<typeof glob>) => {
      const observation = await glob(...input);
      expect(observation).toMatchObject({ is_error: false });
      return observation.files.map((file) => file.slice(dir.length + 1)).sort();
    },
  };
}
