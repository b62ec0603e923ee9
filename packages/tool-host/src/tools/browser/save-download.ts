import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, parse } from "node:path";
import type { Download } from "playwright-core";

/** Saves a download in the workspace under a free name; returns the note for the model. */
export async function saveDownload(download: Download, workspaceDir: string): Promise<string> {
  const suggested = download.suggestedFilename();
  let path: string | null = null;
  try {
    path = await saveFile(new Uint8Array(), suggested, workspaceDir);
    await download.saveAs(path);
    return `Downloaded ${download.url()} to ${path}.`;
  } catch (error) {
    if (path !== null) await rm(path, { force: true });
    const reason = (await download.failure().catch(() => null)) ?? String(error).split("\n")[0];
    return `The download of ${suggested} failed: ${reason}.`;
  }
}

/**
 * Saves bytes to a new file among the downloads and returns its path. The name that the page suggests becomes one safe file name.
 * Other downloads, also of other conversations in the workspace, may want the same name at the same time.
 */
export async function saveFile(bytes: Uint8Array, suggested: string, workspaceDir: string): Promise<string> {
  const directory = join(workspaceDir, "downloads");
  await mkdir(directory, { recursive: true });
  const plain =
    suggested
      .replaceAll(/[^\p{L}\p{N}._ -]/gu, "_")
      .replaceAll(/\.{2,}|^\./g, "_")
      .slice(-150) || "download";
  const { name, ext } = parse(plain);
  for (let count = 1; ; count++) {
    const path = join(directory, count === 1 ? plain : `${name}-${count}${ext}`);
    try {
      await writeFile(path, bytes, { flag: "wx" });
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}
