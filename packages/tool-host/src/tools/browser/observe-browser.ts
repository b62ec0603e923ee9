import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserObservation } from "@convoke/protocol";
import { textPart } from "../observation-content.ts";

/** What an action answers. */
export type Answer = { readonly text: string; readonly isError?: true; readonly picture?: Buffer };

/** The answer as the contract types it. A picture is kept in a file too. */
export async function observe(answer: Answer, directory: string): Promise<BrowserObservation> {
  const { text, picture } = answer;
  const data = picture?.toString("base64") ?? null;
  const saved = data === null || picture === undefined ? null : await save(data, picture, directory);
  const shown = saved === null ? text : `${text}\n\nThe screenshot is kept in ${saved}.`;
  return {
    kind: "BrowserObservation",
    content: [textPart(shown)],
    is_error: answer.isError ?? false,
    screenshot_data: data,
    full_output_save_dir: directory,
  };
}

async function save(data: string, picture: Buffer, directory: string): Promise<string | null> {
  const name = `browser_screenshot_${createHash("sha256").update(data).digest("hex").slice(0, 8)}.png`;
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await writeFile(join(directory, name), picture, { mode: 0o600 });
    return join(directory, name);
  } catch {
    // A disk that is full costs the copy; the model sees the picture all the same.
    return null;
  }
}
