import { join } from "node:path";
import { ToolInputError } from "../../tool.ts";
import { readEditable } from "../file-editor/check-path.ts";
import { decodeText } from "../file-editor/text-file.ts";
import { fileProblem } from "../file-editor/file-problem.ts";
import { runRipgrep, type RipgrepSearch } from "../ripgrep.ts";

export type ForeignFile = {
  /** Relative to the directory of the search, as ripgrep expects it. */
  readonly name: string;
  readonly path: string;
};

export type ForeignFiles = {
  readonly byEncoding: ReadonlyMap<string, readonly ForeignFile[]>;
  /** True when there were more files than were read. */
  readonly isTruncated: boolean;
};

/** Maximum number of files in other encodings that a search reads, newest first. */
export const maxForeign = 250;

/** The text files of a search that are not UTF-8, grouped by the encoding in which the tools read them. */
export async function findForeign(
  search: Omit<RipgrepSearch, "arguments"> & {
    readonly selection: readonly string[];
    readonly paths: readonly string[];
  },
): Promise<ForeignFiles> {
  // A line with invalid characters is not UTF-8.
  const notAllCharacters = ["--files-with-matches", "--invert-match", "--line-regexp", "-e", ".*"];
  const output = await runRipgrep(
    { ...search, arguments: [...notAllCharacters, ...search.selection, "--", ...search.paths] },
    (text) => text.split("\0").length > maxForeign + 1,
  );
  const names = output.split("\0").slice(0, -1);
  const byEncoding = new Map<string, ForeignFile[]>();
  for (const name of names.slice(0, maxForeign)) {
    search.signal.throwIfAborted();
    const path = join(search.directory, name);
    const encoding = await encodingOf(path);
    if (encoding === undefined) continue;
    const file = { name: name.startsWith("./") ? name : `./${name}`, path };
    byEncoding.set(encoding, [...(byEncoding.get(encoding) ?? []), file]);
  }
  return { byEncoding, isTruncated: names.length > maxForeign };
}

/** Undefined for files that the tools cannot read, and for encodings that ripgrep lacks. */
async function encodingOf(path: string): Promise<string | undefined> {
  try {
    const { encoding } = await decodeText(await readEditable(path));
    return encoding === "utf8" || !isWebEncoding(encoding) ? undefined : encoding;
  } catch (error) {
    // Too large, binary, unreadable, or deleted: the search in its bytes remains.
    if (error instanceof ToolInputError || fileProblem(error, path) !== undefined) return undefined;
    throw error;
  }
}

/** True for the encodings of the web, which are those of ripgrep. */
function isWebEncoding(encoding: string): boolean {
  try {
    return new TextDecoder(encoding).encoding !== "";
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
