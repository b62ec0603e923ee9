import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { makeWorkspaceRoot } from "./make-workspace-root.ts";

test("the folder of working directories is made where it is not there, and left as it is where it is", async () => {
  await using folder = await openTemporaryDirectory();
  const root = join(folder.path, "data/workspaces");
  await makeWorkspaceRoot(root);
  await mkdir(join(root, "project"));
  await makeWorkspaceRoot(root);
  expect((await stat(join(root, "project"))).isDirectory()).toBe(true);
});

test("one that cannot be made is named, with the way out", async () => {
  await using folder = await openTemporaryDirectory();
  await writeFile(join(folder.path, "file"), "");
  await expect(makeWorkspaceRoot(join(folder.path, "file/workspaces"))).rejects.toThrow(
    /file\/workspaces cannot be made \(ENOTDIR\)\. Choose another with --workspace-root\./,
  );
});
