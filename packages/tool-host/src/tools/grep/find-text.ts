import { stat } from "node:fs/promises";
import { findFiles, maxFiles, type RipgrepSearch } from "../ripgrep.ts";
import { findLines, maxLines, type FoundLine, type FoundLines } from "./find-lines.ts";
import { findForeign } from "./find-foreign.ts";

export type TextSearch = Omit<RipgrepSearch, "arguments"> & {
  readonly pattern: string;
  /** The arguments that select the files below `paths`. */
  readonly selection: readonly string[];
  readonly paths: readonly string[];
  readonly wantsLines: boolean;
};

/** Empty lines when only files were requested. */
export type FoundText = FoundLines & {
  /** True when there are more files in other encodings than were read. */
  readonly isForeignTruncated: boolean;
};

/**
 * The matching files or lines, newest files first. ripgrep reads UTF-8, and UTF-16 with a byte order mark. Files in other encodings
 * are searched in those, as the tools read them. Fails as `runRipgrep` does.
 */
export async function findText(given: TextSearch): Promise<FoundText> {
  const search = { startedAt: performance.now(), ...given };
  const own = await searchIn(search, [], search.paths);
  if (isSameInBytes(search.pattern) && !own.lines.some(({ text }) => text.includes("\ufffd")))
    return { ...own, isForeignTruncated: false };
  const { byEncoding, isTruncated: isForeignTruncated } = await findForeign(search);
  if (byEncoding.size === 0) return { ...own, isForeignTruncated };
  const paths = new Set([...byEncoding.values()].flat().map(({ path }) => path));
  const parts = [without(own, paths)];
  for (const [encoding, files] of byEncoding) {
    const names = files.map(({ name }) => name);
    parts.push(await searchIn(search, [`--encoding=${encoding}`], names));
  }
  return { ...(await merge(parts, search.wantsLines)), isForeignTruncated };
}

async function searchIn(
  search: TextSearch,
  options: readonly string[],
  paths: readonly string[],
): Promise<FoundLines> {
  const selection = options.length === 0 ? search.selection : [];
  const given = [...matching(search.pattern), ...options, ...selection, "-e", search.pattern, "--", ...paths];
  if (search.wantsLines) return findLines({ ...search, arguments: given });
  return { ...(await findFiles({ ...search, arguments: ["--files-with-matches", ...given] })), lines: [] };
}

/**
 * The pattern is always a value, never an option. For look-around ripgrep chooses an engine that supports it. `$` matches before
 * CR LF, except for patterns that contain the CR itself.
 */
function matching(pattern: string): string[] {
  const namesReturn = /\r|\\r|\\x0d|\\x\{0*d\}|\\u000d|\\u\{0*d\}/iu.test(pattern);
  return ["--ignore-case", "--engine=auto", ...(namesReturn ? [] : ["--crlf"])];
}

/** True for plain ASCII without special characters, which finds the same in every encoding that contains ASCII. */
function isSameInBytes(pattern: string): boolean {
  return /^[\w \-/"'<>=:;,@#%&~!`]*$/u.test(pattern);
}

function without({ files, lines, isTruncated }: FoundLines, paths: ReadonlySet<string>): FoundLines {
  return {
    files: files.filter((file) => !paths.has(file)),
    lines: lines.filter(({ file }) => !paths.has(file)),
    isTruncated,
  };
}

/** Newest first again, and limited to what one search shows. */
async function merge(parts: readonly FoundLines[], wantsLines: boolean): Promise<FoundLines> {
  const [only] = parts.filter(({ files }) => files.length > 0);
  if (only !== undefined && parts.every((part) => part === only || part.files.length === 0)) return only;
  const dated = await Promise.all(
    parts.flatMap(({ files }) => files).map(async (file) => ({ file, changed: await changedAt(file) })),
  );
  const files = dated.sort((a, b) => b.changed - a.changed).map(({ file }) => file);
  const byFile = Map.groupBy(
    parts.flatMap((part) => part.lines),
    ({ file }) => file,
  );
  const isTruncated = parts.some((part) => part.isTruncated);
  if (!wantsLines)
    return {
      files: files.slice(0, maxFiles),
      lines: [],
      isTruncated: isTruncated || files.length > maxFiles,
    };
  const lines: FoundLine[] = [];
  const shown = files.filter((file) => {
    const own = byFile.get(file) ?? [];
    const isShown = lines.length < maxLines || own.length === 0;
    lines.push(...own.slice(0, maxLines - lines.length));
    return isShown;
  });
  const count = parts.reduce((sum, part) => sum + part.lines.length, 0);
  return { files: shown, lines, isTruncated: isTruncated || count > lines.length };
}

async function changedAt(file: string): Promise<number> {
  return stat(file).then(
    (stats) => stats.mtimeMs,
    () => 0, // Deleted since it was found: it comes last.
  );
}
