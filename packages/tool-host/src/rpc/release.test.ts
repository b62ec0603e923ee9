import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { release } from "./release.ts";

test("P57: the release is the package's", async () => {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  expect((JSON.parse(text) as { version: string }).version).toBe(release);
});
