import { buffer } from "node:stream/consumers";
import { Readable } from "node:stream";
import { unzipSync } from "fflate";
import { expect, test } from "vitest";
import { firstZipTimeMs, openZipWriter, type ZipFile } from "./zip-writer.ts";

const fileOf = (name: string, content: ZipFile["content"]): ZipFile => ({
  name,
  content,
  mode: 0o100_644,
  modifiedAtMs: firstZipTimeMs,
});

async function* archive(files: readonly ZipFile[]): AsyncGenerator<Uint8Array> {
  const zip = await openZipWriter();
  for (const file of files) yield* zip.add(file);
  yield* zip.end();
}

const whole = async (files: readonly ZipFile[]): Promise<Buffer> => buffer(Readable.from(archive(files)));

test("what was written is read, and the same content gives the same archive", async () => {
  const list = (): readonly ZipFile[] => [
    fileOf("empty", Buffer.alloc(0)),
    fileOf("ü/漢.txt", Readable.from([Buffer.from("one "), Buffer.from("two")])),
  ];
  const written = await whole(list());
  const texts = Object.entries(unzipSync(written)).map(([name, bytes]) => [
    name,
    Buffer.from(bytes).toString(),
  ]);
  expect(texts).toEqual([
    ["empty", ""],
    ["ü/漢.txt", "one two"],
  ]);
  expect(await whole(list())).toEqual(written);
});

test("a time that the format cannot name is its first or last", async () => {
  for (const modifiedAtMs of [0, -1, Date.UTC(2500)]) {
    const written = await whole([{ ...fileOf("old", Buffer.from("x")), modifiedAtMs }]);
    expect(Object.keys(unzipSync(written))).toEqual(["old"]);
  }
});

test("content that fails half way is the failure of the archive", async () => {
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(1_000_000, "x");
    throw new Error("the disk is gone");
  }
  await expect(whole([fileOf("first", Buffer.alloc(0)), fileOf("half", failing())])).rejects.toThrow(
    "the disk is gone",
  );
});

test("content is closed when nobody reads the archive any more, and is not read ahead", async () => {
  let chunks = 0;
  const closed = Promise.withResolvers<void>();
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        chunks += 1;
        yield crypto.getRandomValues(new Uint8Array(65_536));
      }
    } finally {
      closed.resolve();
    }
  }
  for await (const chunk of archive([fileOf("endless", endless())])) if (chunk.length > 1_000) break;
  await closed.promise;
  expect(chunks).toBeLessThan(20);
});

test("a name that the format has no room for fails", async () => {
  await expect(whole([fileOf("x".repeat(70_000), Buffer.alloc(0))])).rejects.toThrow("filename too long");
});

test("the room is that of the plain form", async () => {
  const zip = await openZipWriter();
  expect([zip.hasRoomFor(0xffff_ffff, 1), zip.hasRoomFor(0x1_0000_0000, 1)]).toEqual([true, false]);
  expect([zip.hasRoomFor(0, 0xffff), zip.hasRoomFor(0, 0x1_0000)]).toEqual([true, false]);
});
