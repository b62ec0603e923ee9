import { text } from "node:stream/consumers";
import { packTar } from "modern-tar";
import { expect, test } from "vitest";
import { tarEntries } from "./tar-entries.ts";

const content = Buffer.alloc(3_000, "abc");
const tar = Buffer.from(
  await packTar([
    { header: { name: "passed over", size: content.length }, body: content },
    { header: { name: "link", size: 0, type: "symlink", linkname: "../there" } },
    { header: { name: "pipe", size: 0, type: "fifo" } },
    { header: { name: "folder/", size: 0, type: "directory", mode: 0o755 } },
    { header: { name: "read", size: content.length, mtime: new Date(5_000), mode: 0o600 }, body: content },
  ]),
);

/** Cut in chunks of a length that no block has. */
async function* chunksOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 77) yield bytes.subarray(at, at + 77);
}

async function read(bytes: Buffer): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { content: body, ...entry } of tarEntries(chunksOf(bytes))) {
    found.push([entry.name, entry.type, entry.target, entry.name === "read" ? await text(body) : null]);
  }
  return found;
}

test("entries are read at any cut, and content that nobody reads is passed over", async () => {
  expect(await read(tar)).toEqual([
    ["passed over", "file", "", null],
    ["link", "link", "../there", null],
    ["pipe", "other", "", null],
    ["folder/", "directory", "", null],
    ["read", "file", "", content.toString()],
  ]);
});

test("a tar file that is cut anywhere fails", async () => {
  for (const length of [0, 100, 512, 2_000, 3_584, tar.length - 1_024, tar.length - 512]) {
    await expect(read(tar.subarray(0, length)), String(length)).rejects.toThrow("truncated");
  }
});

test("a damaged header fails", async () => {
  const damaged = Buffer.from(tar);
  damaged[0]! ^= 1;
  await expect(read(damaged)).rejects.toThrow("checksum");
});

test("whoever stops reading closes the source", async () => {
  const closed = Promise.withResolvers<void>();
  async function* source(): AsyncGenerator<Buffer> {
    try {
      yield tar.subarray(0, 512);
      for (;;) yield Buffer.alloc(65_536);
    } finally {
      closed.resolve();
    }
  }
  for await (const entry of tarEntries(source())) if (entry.name === "passed over") break;
  await closed.promise;
});
