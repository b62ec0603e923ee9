import { PassThrough, Readable } from "node:stream";
import { expect, test } from "vitest";
import { boundContent } from "./bounded-content.ts";

test("content is passed on as it is", async () => {
  const content = boundContent(Readable.from([Buffer.from("ab"), Buffer.from("cd")]), {
    maxBytes: Infinity,
    stallMs: 1_000,
  });
  expect(Buffer.concat(await content.toArray()).toString()).toBe("abcd");
});

test("content ends at its bound, and its source is destroyed", async () => {
  const source = new PassThrough();
  source.write("abcdef");
  const content = boundContent(source, { maxBytes: 4, stallMs: 1_000 });
  expect(Buffer.concat(await content.toArray()).toString()).toBe("abcd");
  expect(source.destroyed).toBe(true);
});

test("a range behind the end is empty", async () => {
  const content = boundContent(new PassThrough(), { maxBytes: -3, stallMs: 1_000 });
  expect(await content.toArray()).toEqual([]);
});

test("a reader that gets nothing gets an error that says so", async () => {
  const source = new PassThrough();
  source.write("ab");
  const content = boundContent(source, { maxBytes: 4, stallMs: 20 });
  await expect(content.toArray()).rejects.toThrow("the tool host sent nothing for 0.02 seconds");
  expect(source.destroyed).toBe(true);
});

test("the error of a source reaches its reader", async () => {
  const source = new PassThrough();
  const content = boundContent(source, { maxBytes: 4, stallMs: 1_000 });
  source.destroy(new Error("gone"));
  await expect(content.toArray()).rejects.toThrow("gone");
});

test("a reader that leaves while it waits destroys its source", async () => {
  const source = new PassThrough();
  const content = boundContent(source, { maxBytes: 4, stallMs: 10_000 });
  content.resume();
  await new Promise((resolve) => setImmediate(resolve));
  content.destroy();
  await expect.poll(() => source.destroyed).toBe(true);
});
