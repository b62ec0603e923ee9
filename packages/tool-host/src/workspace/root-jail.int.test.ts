import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { watchLeaks } from "../testing/leaks.ts";
import type { LeakCheck } from "../testing/leaks.ts";
import { openTemporaryDirectory } from "../testing/temporary-directory.ts";
import { createLocalWorkspace } from "./local-workspace.ts";
import { WorkspaceError } from "./workspace.ts";

/** `CONVOKE_EVERY_CASE=1` tries all names, as the nightly run does. */
const nameCount = process.env["CONVOKE_EVERY_CASE"] === "1" ? 10_000 : 2_500;

let leaks: LeakCheck;
beforeEach(() => {
  leaks = watchLeaks();
});
afterEach(async () => leaks.assertNone());

test(`P31: ${nameCount} hostile names read and write nothing outside of the root`, async () => {
  const { workspace, root, outside, canary } = await openJail();
  const before = await listTree(outside);
  const refusals = new Set<string>();
  const random = seededRandom(31);
  for (let index = 0; index < nameCount; index += 1) {
    const path = hostileName(random, root, outside);
    const attempt = [
      async () => expect(await readAll(workspace, path)).not.toContain(canary),
      async () => workspace.writeFile(path, Readable.from([Buffer.from("overwritten")])),
      async () => workspace.list(path),
      async () => workspace.createDirectory(path),
    ][index % 4] as () => Promise<unknown>;
    await attempt().catch((error: unknown) => {
      expect(error, `${path}: ${String(error)}`).toBeInstanceOf(WorkspaceError);
      refusals.add((error as WorkspaceError).code);
    });
  }
  expect(await listTree(outside)).toEqual(before);
  expect(refusals).toContain("outside-root");
  expect(refusals).toContain("invalid-path");
}, 240_000);

test("P31: a directory that is swapped for a link between check and use gives no access", async () => {
  const { workspace, root, outside, canary } = await openJail();
  const before = await listTree(outside);
  await mkdir(join(root, "real"));
  await writeFile(join(root, "real", "secret"), "harmless");
  const done = new AbortController();
  const swapping = (async () => {
    const real = join(root, "real");
    // The workspace recreates a missing parent, so the place may exist again, or be filled while it is cleared.
    const put = async (make: () => Promise<void>): Promise<void> => {
      const clear = rm(real, { recursive: true, force: true });
      await clear.then(make).catch(async () => put(make));
    };
    while (!done.signal.aborted) {
      await rename(real, join(root, "aside"));
      await put(async () => symlink(outside, real));
      await sleep(1);
      await put(async () => rename(join(root, "aside"), real));
      await sleep(1);
    }
  })();
  let reads = 0;
  for (let index = 0; index < 500; index += 1) {
    const path = join(root, "real", "secret");
    const text = await readAll(workspace, path).catch(ignoreRefusal);
    if (text !== undefined) reads += 1;
    expect(text ?? "").not.toContain(canary);
    await workspace
      .writeFile(join(root, "real", "new"), Readable.from([Buffer.from("x")]))
      .catch(ignoreRefusal);
    const entries = await workspace.list(join(root, "real")).catch(ignoreRefusal);
    expect((entries ?? []).map(({ name }) => name)).not.toContain("only-outside");
  }
  done.abort();
  await swapping;
  expect(reads).toBeGreaterThan(0);
  expect(await listTree(outside)).toEqual(before);
}, 240_000);

test("links inside the root are followed, links out of it are refused and listed as other", async () => {
  const { workspace, root } = await openJail();
  await writeFile(join(root, "file"), "text");
  await symlink("file", join(root, "inward"));
  expect(await readAll(workspace, join(root, "inward"))).toBe("text");
  const entries = await workspace.list(root);
  expect(entries).toEqual([
    { name: "away", type: "other" },
    { name: "file", type: "file" },
    { name: "folder", type: "directory" },
    { name: "inward", type: "file" },
    { name: "up", type: "other" },
  ]);
});

async function openJail() {
  const directory = await openTemporaryDirectory();
  onTestFinished(async () => directory[Symbol.asyncDispose]());
  const [root, outside] = [join(directory.path, "root"), join(directory.path, "outside")];
  const canary = "canary-text";
  await mkdir(join(root, "folder"), { recursive: true });
  await mkdir(outside);
  await writeFile(join(outside, "secret"), canary);
  await writeFile(join(outside, "only-outside"), canary);
  await symlink(outside, join(root, "away"));
  await symlink("../..", join(root, "up"));
  return { workspace: createLocalWorkspace({ root, environment: {} }), root, outside, canary };
}

/** Absolute paths that try to escape: by dots, links, sibling roots, odd characters and lengths. */
function hostileName(random: () => number, root: string, outside: string): string {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const parts = [
    "..",
    ".",
    "",
    "away",
    "up",
    "folder",
    "outside",
    "secret",
    "new",
    "...",
    "~",
    "~root",
    "a b",
    "-rf",
    "..\\..",
    "C:\\",
    "\\\\host\\share",
    "CON",
    "..%2f",
    "%2e%2e",
    "..;",
    "\u2025",
    "\uff0e\uff0e",
    "\n",
    "\u202e",
    "x\0y",
    "\0",
    "e\u0301",
    "n".repeat(300),
    "proc/self/root",
    "dev/null",
    "etc/passwd",
  ];
  const start = pick([
    root,
    root,
    root,
    `${root}/away`,
    `${root}/up`,
    outside,
    `${root}-other`,
    "",
    "/",
    `${root}/.`,
  ]);
  const length = Math.floor(random() * 6);
  return [start, ...Array.from({ length }, () => pick(parts))].join(pick(["/", "/", "/", "//", "/./"]));
}

async function readAll(workspace: ReturnType<typeof createLocalWorkspace>, path: string): Promise<string> {
  const { content } = await workspace.readFile(path);
  return (await buffer(content)).toString("utf8");
}

/** Every file with its content, so that any change is visible. */
async function listTree(directory: string): Promise<string[]> {
  const names = await readdir(directory, { recursive: true });
  const files = names.map(async (name) => `${name}: ${await readFile(join(directory, name), "utf8")}`);
  return (await Promise.all(files)).sort();
}

function ignoreRefusal(error: unknown): undefined {
  if (!(error instanceof WorkspaceError)) throw error;
}

function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
