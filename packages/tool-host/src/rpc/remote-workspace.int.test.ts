import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { watchLeaks } from "../testing/leaks.ts";
import { openServedBench } from "../testing/served-host.ts";
import { windowBytes } from "./streams.ts";

const mebibyte = 1024 * 1024;
/** Maximum bytes of a transfer that may be in memory. */
const tolerable = 16 * mebibyte;
/** The size of the promise with `CONVOKE_EVERY_CASE=1`. */
const megabytes = process.env["CONVOKE_EVERY_CASE"] === "1" ? 100 : 40;

test(`${megabytes} MiB are uploaded and downloaded with less than 16 MiB in memory, whichever side is slow`, async () => {
  const { workspace, dir } = await openBench();
  const path = join(dir, "new", "large");
  // Both ends are in this process, so this is what both hold together.
  const held = watchHeldBytes();
  await workspace.writeFile(path, produce(megabytes, held.sample));
  expect((await stat(path)).size).toBe(megabytes * mebibyte);
  const { stat: found, content } = await workspace.readFile(path);
  expect(found.sizeBytes).toBe(megabytes * mebibyte);
  let byteCount = 0;
  for await (const bytes of content as AsyncIterable<Buffer>) {
    byteCount += bytes.length;
    if (byteCount % (10 * mebibyte) >= bytes.length) continue;
    // A slow reader: the host must wait instead of filling memory.
    await sleep(20);
    await held.sample();
  }
  expect(byteCount).toBe(megabytes * mebibyte);
  expect(held.max()).toBeLessThan(tolerable);
}, 240_000);

test("every method works over the wire, with its errors", async () => {
  const { workspace, dir } = await openBench();
  const path = join(dir, "a b.txt");
  await workspace.writeFile(path, Readable.from([Buffer.from("hello "), Buffer.from("world")]));
  expect(await workspace.stat(path)).toEqual({
    type: "file",
    sizeBytes: 11,
    modifiedAtMs: Math.floor((await stat(path)).mtimeMs),
  });
  const range = await workspace.readFile(path, { start: 6, end: 8 });
  expect((await buffer(range.content)).toString()).toBe("wor");
  await workspace.createDirectory(join(dir, "x", "y"));
  await workspace.createDirectory(join(dir, "x", "y"));
  expect(await workspace.list(join(dir, "x"))).toEqual([{ name: "y", type: "directory" }]);
  expect(await workspace.gitChanges(dir)).toEqual([]);
  expect(await workspace.gitDiff(path)).toEqual({ modified: null, original: null });
  await expect(workspace.gitRestore(path, "HEAD")).rejects.toMatchObject({ code: "no-repository" });
  const archive = await buffer((await workspace.archive(join(dir, "x"))).content);
  expect(archive.subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
  await expect(workspace.readFile(join(dir, "absent"))).rejects.toMatchObject({ code: "not-found" });
  await expect(workspace.readFile(dir)).rejects.toMatchObject({ code: "not-a-file" });
  await expect(workspace.list(path)).rejects.toMatchObject({ code: "not-a-directory" });
  await expect(workspace.createDirectory(path)).rejects.toMatchObject({ code: "not-a-directory" });
  await expect(workspace.stat("relative")).rejects.toMatchObject({ code: "invalid-path" });
  await expect(workspace.writeFile(dir, Readable.from([]))).rejects.toMatchObject({ code: "not-a-file" });
});

test("P31, security 26: within a root no link leads out, over the wire too", async () => {
  const { workspace, dir } = await openBench();
  await mkdir(join(dir, "work", "deep"), { recursive: true });
  await writeFile(join(dir, "secret"), "outside");
  await writeFile(join(dir, "work", "mine"), "inside");
  await symlink(join(dir, "secret"), join(dir, "work", "link"));
  await symlink(dir, join(dir, "work", "up"));
  await symlink(dir, join(dir, "work", "deep", "out"));
  const work = workspace.within(join(dir, "work"));
  expect((await buffer((await work.readFile(join(dir, "work", "mine"))).content)).toString()).toBe("inside");
  expect(await work.list(join(dir, "work"))).toContainEqual({ name: "link", type: "other" });
  const outside = { code: "outside-root" };
  for (const name of ["link", "up/secret", "up", "deep/out/secret"]) {
    const path = join(dir, "work", name);
    await expect(work.stat(path)).rejects.toMatchObject(outside);
    await expect(work.readFile(path)).rejects.toMatchObject(outside);
  }
  await expect(work.readFile(join(dir, "secret"))).rejects.toMatchObject(outside);
  await expect(work.writeFile(join(dir, "work", "up", "new"), Readable.from(["x"]))).rejects.toMatchObject(
    outside,
  );
  // A root inside a root must not widen access.
  await expect(work.within(join(dir, "work", "up")).stat(join(dir, "secret"))).rejects.toMatchObject(outside);
  await expect(work.within(dir).stat(join(dir, "secret"))).rejects.toMatchObject(outside);
});

test("a source that fails, or a connection that breaks, leaves the old content and nothing beside it", async () => {
  const { workspace, dir, served } = await openBench();
  const path = join(dir, "kept");
  await writeFile(path, "old");
  const failing = async function* () {
    yield randomBytes(10);
    throw new Error("the upload was given up");
  };
  await expect(workspace.writeFile(path, failing())).rejects.toThrow("given up");
  const cut = async function* () {
    yield randomBytes(10);
    served.cutConnections();
    yield* produce(4);
  };
  await expect(workspace.writeFile(path, cut())).rejects.toThrow("broke");
  await expect.poll(async () => readdir(dir)).toEqual(["kept"]);
  expect(await readFile(path, "utf8")).toBe("old");
});

test("a reader that gives up, or loses its connection, closes the file on the host", async () => {
  const { workspace, dir, served } = await openBench();
  const path = join(dir, "large");
  await writeFile(path, randomBytes(8 * windowBytes));
  const given = await workspace.readFile(path);
  given.content.destroy();
  const lost = await workspace.readFile(path);
  served.cutConnections();
  await expect(buffer(lost.content)).rejects.toThrow("broke");
  const again = await workspace.readFile(path);
  expect((await buffer(again.content)).equals(await readFile(path))).toBe(true);
});

test("an archive whose reader stops leaves no process", async () => {
  const { workspace, dir } = await openBench();
  await writeFile(join(dir, "large"), randomBytes(8 * windowBytes));
  const { content } = await workspace.archive(dir);
  content.destroy();
});

async function openBench() {
  const leaks = watchLeaks();
  onTestFinished(async () => leaks.assertNone());
  const bench = await openServedBench();
  onTestFinished(async () => bench[Symbol.asyncDispose]());
  const remote = await bench.connect();
  const dir = join(bench.dir, "files");
  await mkdir(dir);
  return { workspace: remote.workspace, dir, served: bench.served };
}

async function* produce(mebibytes: number, onChunk = async (): Promise<void> => {}): AsyncGenerator<Buffer> {
  const chunk = randomBytes(mebibyte);
  for (let index = 0; index < mebibytes; index += 1) {
    yield chunk;
    if (index % 10 === 0) await onChunk();
  }
}

/** The maximum of buffer bytes in use at any sample, minus those at the start. */
function watchHeldBytes(): { readonly sample: () => Promise<void>; readonly max: () => number } {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  const before = process.memoryUsage().arrayBuffers;
  let max = 0;
  return {
    sample: async () => {
      // Collected buffers are freed in the background, on a busy machine late; held ones stay.
      let held = Infinity;
      for (let round = 0; round < 3 || (held > tolerable && round < 200); round += 1) {
        collect();
        await sleep(5);
        held = process.memoryUsage().arrayBuffers - before;
      }
      max = Math.max(max, held);
    },
    max: () => max,
  };
}
