import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTemporaryDirectory } from "../testing/temporary-directory.ts";
import { openLateBash } from "./late-bash.ts";

test("the record is made at the first use, and not after the end", async () => {
  await using folder = await openTemporaryDirectory();
  const path = join(folder.path, "state", "bash.sqlite");
  const used = openLateBash({ path, environment: {} });
  expect(existsSync(path)).toBe(false);
  expect(await used.lastSeq()).toBe(0);
  expect(existsSync(path)).toBe(true);
  await used[Symbol.asyncDispose]();

  const unused = openLateBash({ path: join(folder.path, "other", "bash.sqlite"), environment: {} });
  await unused[Symbol.asyncDispose]();
  await expect(unused.lastSeq()).rejects.toThrow("stops");
  expect(existsSync(join(folder.path, "other"))).toBe(false);
});
