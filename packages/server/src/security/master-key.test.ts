import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { openMasterKey } from "./master-key.ts";

test("P3: a folder is opened with the secret that it was used with first, and with no other", async () => {
  await using folder = await openTemporaryDirectory();
  const sealed = (await openMasterKey(folder.path, "right")).seal("text");
  expect((await openMasterKey(folder.path, "right")).unseal(sealed)).toBe("text");
  await expect(openMasterKey(folder.path, "wrong")).rejects.toThrow("not the one");
  await expect(openMasterKey(folder.path, null)).rejects.toThrow("configured");
});

test("P3: a folder with a key file of its own takes no other key", async () => {
  await using folder = await openTemporaryDirectory();
  await openMasterKey(folder.path, null);
  await expect(openMasterKey(folder.path, "secret")).rejects.toThrow("of its own");
});
