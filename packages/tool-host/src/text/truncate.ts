import { createHash, randomUUID } from "node:crypto";
import { access, mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Longest tool text of each kind, in UTF-16 code units. */
export const textLimits = { terminal: 30_000, fileEditor: 16_000, toolMessage: 50_000 } as const;

/** The notice for a text of which no complete copy is stored. */
export const shortNotice =
  "<response clipped> The middle of this text was left out to keep it short. Ask for a smaller part to see the rest. <end of note>";

export type TruncateOptions = {
  readonly limit: number;
  /** Directory and file name prefix for the complete copy of a cut text. */
  readonly save?: { readonly dir: string; readonly prefix: string };
};

/** Returns `text`, or exactly `limit` characters of it: its head, a notice, its tail; with `save` the complete text is written to disk first. */
export async function truncateText(text: string, options: TruncateOptions): Promise<string> {
  if (text.length <= options.limit) return text;
  if (options.save === undefined) return clipText(text, options.limit, shortNotice);
  const file = await saveFullText(text, options.save.dir, options.save.prefix);
  return clipText(text, options.limit, fullTextNotice(text, options.limit, file));
}

/** Returns exactly `limit` characters: head, notice, tail; the head gets the odd character. The notice alone is cut when it does not fit. */
export function clipText(text: string, limit: number, notice: string): string {
  if (text.length <= limit) return text;
  const { head, tail } = clipSizes(limit, notice);
  // A cut inside a surrogate pair leaves halves; toWellFormed replaces each by one character, so the length stays.
  if (head + tail === 0) return notice.slice(0, limit).toWellFormed();
  return (text.slice(0, head) + notice + text.slice(text.length - tail)).toWellFormed();
}

/** How many characters of the head and of the tail stay beside `notice` within `limit`. */
function clipSizes(limit: number, notice: string): { readonly head: number; readonly tail: number } {
  const available = Math.max(0, limit - notice.length);
  const head = Math.ceil(available / 2);
  return { head, tail: available - head };
}

/** The notice that names the file with the complete text and the 1-based line of it where the left-out part begins; `start` is at least the first `limit` characters. */
export function fullTextNotice(start: string, limit: number, file: string): string {
  let line = lineAt(start, clipSizes(limit, shortNotice).head);
  // The number's width moves the cut by one character at most; a few rounds converge on the true line.
  for (let round = 0; round < 3; round += 1) {
    const next = lineAt(start, clipSizes(limit, savedNotice(file, line)).head);
    if (next === line) break;
    line = next;
  }
  return savedNotice(file, line);
}

/** Writes `text` to `<dir>/<prefix>_output_<first 8 hex digits of its SHA-256>.txt` unless that file exists, and returns the path. */
export async function saveFullText(text: string, dir: string, prefix: string): Promise<string> {
  const digest = createHash("sha256").update(text, "utf8").digest("hex");
  const path = fullTextPath(dir, prefix, digest);
  if (await exists(path)) return path;
  await mkdir(dir, { recursive: true });
  const unfinished = join(dir, `.${prefix}-${randomUUID()}`);
  await writeFile(unfinished, text, { mode: 0o600 });
  await rename(unfinished, path);
  return path;
}

/** The path of the complete text with this SHA-256 (hex). */
export function fullTextPath(dir: string, prefix: string, sha256: string): string {
  return join(dir, `${prefix}_output_${sha256.slice(0, 8)}.txt`);
}

function savedNotice(file: string, line: number): string {
  return `<response clipped> The middle of this text was left out. The complete text is in ${file}; the part that is missing here begins at its line ${line}. Read it in ranges, or search it. <end of note>`;
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
