import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Download } from "playwright-core";
import { expect, test } from "vitest";
import { openTemporaryDirectory } from "../../testing/temporary-directory.ts";
import { saveDownload, saveFile } from "./save-download.ts";

/** Content that a page sent under the name `report.csv`; null for a broken download. */
function downloadOf(text: string | null): Download {
  const parts: Partial<Download> = {
    suggestedFilename: () => "report.csv",
    url: () => "http://127.0.0.1/",
    failure: async () => (text === null ? "it broke off" : null),
    saveAs: async (path) => {
      if (text === null) throw new Error("canceled");
      await writeFile(path, text);
    },
  };
  return parts as Download;
}

test("concurrent downloads with the same name become separate files, and a failed one leaves none", async () => {
  await using folder = await openTemporaryDirectory();
  const texts = ["one", "two", "three"];
  const notes = await Promise.all([
    ...texts.map((text) => saveDownload(downloadOf(text), folder.path)),
    saveFile(Buffer.from("four"), "report.csv", folder.path),
    saveDownload(downloadOf(null), folder.path),
  ]);
  expect(new Set(notes).size).toBe(5);
  expect(notes.at(-1)).toBe("The download of report.csv failed: it broke off.");
  const downloads = join(folder.path, "downloads");
  const contents = (await readdir(downloads)).map((name) => readFile(join(downloads, name), "utf8"));
  expect((await Promise.all(contents)).sort()).toEqual(["four", ...texts].sort());
});
