import { join } from "node:path";
import { showControls } from "../file-editor/show-controls.ts";
import { runRipgrep, type RipgrepSearch } from "../ripgrep.ts";

export type FoundLine = { readonly file: string; readonly number: number; readonly text: string };

export type FoundLines = {
  /** Absolute paths, newest first. A binary file with a match is included without lines. */
  readonly files: readonly string[];
  readonly lines: readonly FoundLine[];
  readonly isTruncated: boolean;
};

/** Maximum number of lines that a search shows, and of characters per line. */
export const maxLines = 200;
const maxLineLength = 400;

/** The matching lines in their files, newest first. Fails as {@link runRipgrep} does. */
export async function findLines(search: RipgrepSearch): Promise<FoundLines> {
  const given = ["--line-number", "--no-heading", "--with-filename", ...search.arguments];
  // One line more than the maximum proves that there are more.
  const output = await runRipgrep({ ...search, arguments: given }, (text) => countOf(text) > maxLines);
  const files = new Set<string>();
  const lines: FoundLine[] = [];
  // After the last line end there is nothing, or an incomplete line.
  const found = output.split("\n").slice(0, -1);
  for (const line of found.slice(0, maxLines)) {
    const [, name, number, text] = /^([^\0]+)\0(\d+):(.*)$/su.exec(line) ?? [];
    const binary = /^(.+): binary file matches /u.exec(line)?.[1];
    const file = join(search.directory, name ?? binary ?? "");
    if (name === undefined && binary === undefined) continue;
    files.add(file);
    if (text !== undefined) lines.push({ file, number: Number(number), text: shortened(text) });
  }
  return { files: [...files], lines, isTruncated: found.length > maxLines };
}

function countOf(text: string): number {
  return text.split("\n").length - 1;
}

function shortened(text: string): string {
  const line = showControls(text.replace(/\r$/u, ""));
  return line.length <= maxLineLength ? line : `${line.slice(0, maxLineLength)} (cut)`;
}
