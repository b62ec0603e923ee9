import { existsSync } from "node:fs";
import { join } from "node:path";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { prepareSandboxDirectory, sandboxDirectory } from "./sandbox-directory.ts";

const id = "0123456789abcdef0123";

test("a data folder in a long home of macOS leaves room for the socket of a sandbox, which has 103 bytes there", () => {
  const home = `/Users/${"n".repeat(32)}`;
  const { socketFile } = sandboxDirectory(join(home, ".convoke/sandboxes"), id);
  expect(Buffer.byteLength(socketFile)).toBeLessThanOrEqual(103);
});

test("one that leaves none is refused with the way out, and nothing is made", async () => {
  await using folder = await openTemporaryDirectory();
  const directory = sandboxDirectory(join(folder.path, "ä".repeat(40)), id);
  await expect(prepareSandboxDirectory(directory, undefined)).rejects.toThrow(
    "Choose a shorter data folder.",
  );
  expect(existsSync(directory.root)).toBe(false);
});
