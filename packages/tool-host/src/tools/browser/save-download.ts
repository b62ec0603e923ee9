import { mkdir, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join, parse } from "node:path";
import type { Download } from "playwright-core";

/** Keeps a download in the workspace under a name that is free there; answers with what the model should know of it. */
export async function saveDownload(download: Download, workspaceDir: string): Promise<string> {
  const suggested = download.suggestedFilename();
  try {
    const path = await freePath(workspaceDir, suggested);
    await download.saveAs(path);
    return `Downloaded ${download.url()} to ${path}.`;
  } catch (error) {
    const reason = (await download.failure().catch(() => null)) ?? String(error).split("\n")[0];
    return `The download of ${suggested} failed: ${reason}.`;
  }
}

/** Keeps bytes among the downloads; answers with their path. */
export async function saveFile(bytes: Uint8Array, suggested: string, workspaceDir: string): Promise<string> {
  const path = await freePath(workspaceDir, suggested);
  await writeFile(path, bytes, { flag: "wx" });
  return path;
}

/** The name that the page suggests is one name, whatever is in it. */
async function freePath(workspaceDir: string, suggested: string): Promise<string> {
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
    if (!existsSync(path)) return path;
  }
}
