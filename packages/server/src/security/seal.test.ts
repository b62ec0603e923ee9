import { mkdtemp, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSecretBox, openSecretBox, SealError } from "./seal.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "convoke-seal-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

test("what is sealed is opened by the same key only, and sealing twice differs", () => {
  const box = createSecretBox(Buffer.alloc(32, 1));
  const sealed = box.seal("canary ü");
  expect(sealed).not.toContain("canary");
  expect(box.seal("canary ü")).not.toBe(sealed);
  expect(box.unseal(sealed)).toBe("canary ü");
  expect(() => createSecretBox(Buffer.alloc(32, 2)).unseal(sealed)).toThrow(SealError);
  expect(() => box.unseal(`${sealed.slice(0, -4)}AAAA`)).toThrow(SealError);
});

test("P27: boxes opened at the same moment share one key, readable by its owner only", async () => {
  const file = join(folder, "keys", "master-key");
  const boxes = await Promise.all([openSecretBox(file), openSecretBox(file), openSecretBox(file)]);
  const sealed = boxes[0].seal("x");
  expect(boxes.map((box) => box.unseal(sealed))).toEqual(["x", "x", "x"]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("F7: where a key is, nothing is written beside it, not even for a moment", async () => {
  const file = join(folder, "there", "master-key");
  const sealed = (await openSecretBox(file)).seal("x");
  // Whatever comes into a folder or leaves it moves its time.
  await utimes(join(folder, "there"), 1, 1);
  expect((await openSecretBox(file)).unseal(sealed)).toBe("x");
  expect((await stat(join(folder, "there"))).mtimeMs).toBe(1000);
});
