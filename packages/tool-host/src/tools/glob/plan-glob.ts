import { stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, relative } from "node:path";
import { ToolInputError } from "../../tool.ts";
import { resolveDirectory, resolvePath, runRipgrep } from "../ripgrep.ts";
import type { RipgrepSearch, SearchPlace } from "../ripgrep.ts";
import { hasGroups, widenGlob } from "./widen-glob.ts";

/** Directory and pattern of a search; `pattern` is relative to `directory`. */
export type GlobPlan = { readonly directory: string; readonly pattern: string };

/** Splits an absolute pattern into its directory and the rest; a relative one is relative to `path` or the workspace. */
export async function planGlob(
  pattern: string,
  path: string | undefined,
  place: SearchPlace,
): Promise<GlobPlan> {
  if (pattern.includes("\0"))
    throw new ToolInputError("Invalid parameter pattern: it contains a NUL character.");
  if (path === undefined && isRooted(pattern)) return splitPattern(pattern, place);
  const directory = await resolveDirectory(path ?? place.workspaceDir, place);
  if (!isRooted(pattern)) return { directory, pattern: pattern.replace(/^(\.\/)+/, "") };
  const inside = relative(directory, resolvePath(pattern, place));
  if (inside.startsWith("..") || isAbsolute(inside)) {
    throw new ToolInputError(
      `Invalid parameter pattern: ${pattern} lies outside of the path ${directory}. Leave out path, or use a relative pattern.`,
    );
  }
  return { directory, pattern: inside };
}

/** The ripgrep arguments that list the files of a pattern. */
export function globArguments(pattern: string): string[] {
  const { base, rest } = splitBase(pattern);
  const paths = ["--", base === "" ? "." : `./${base}`];
  // A pattern that matches everything must not reach ripgrep: it would include hidden and ignored files.
  if (/^(\*\*\/)*\*\*?$/.test(rest) || rest === "") {
    const depth = rest === "*" && base !== "" ? ["--max-depth=1"] : [];
    return ["--files", ...depth, ...paths];
  }
  return ["--files", ...selectionArguments(pattern), ...paths];
}

/**
 * The reason why a pattern that ripgrep rejects finds nothing: it was searched with its brackets and braces as parts of names.
 * Throws what {@link runRipgrep} throws.
 */
export async function checkGlob(pattern: string, search: Omit<RipgrepSearch, "arguments">): Promise<void> {
  if (!hasGroups(pattern)) return;
  await runRipgrep(
    { ...search, arguments: ["--files", "--max-depth=1", "-g", pattern, "--", "."] },
    () => true,
  );
}

/** The ripgrep arguments for "only files that match this pattern". Hidden directories are searched when the pattern names one. */
export function selectionArguments(pattern: string): string[] {
  const segments = pattern.split("/");
  const namesHidden = segments.some((segment) => /^\.[^./]/.test(segment));
  const repository = segments.includes(".git") ? [] : ["-g", "!.git"];
  return [...(namesHidden ? ["--hidden"] : []), "-g", widenGlob(pattern), ...repository];
}

/** True for patterns that begin at the root, at home, or above the base directory. */
function isRooted(pattern: string): boolean {
  return isAbsolute(pattern) || pattern === "~" || pattern.startsWith("~/") || pattern.startsWith("../");
}

async function splitPattern(pattern: string, place: SearchPlace): Promise<GlobPlan> {
  const { base, rest } = splitBase(pattern);
  const start = resolvePath(base === "" ? "/" : base, place);
  const isFile =
    rest === "" &&
    (await stat(start).then(
      (stats) => stats.isFile(),
      () => false,
    ));
  if (isFile) return { directory: dirname(start), pattern: basename(start) };
  return { directory: await resolveDirectory(start, place), pattern: rest === "" ? "**/*" : rest };
}

/** The leading segments without wildcards, and the rest. */
function splitBase(pattern: string): { base: string; rest: string } {
  if (pattern.startsWith("!")) return { base: "", rest: pattern };
  const segments = pattern.split("/");
  const wild = segments.findIndex((segment) => /[*?[{\\]/.test(segment));
  if (wild === -1) return isRooted(pattern) ? { base: pattern, rest: "" } : splitLast(segments);
  return { base: segments.slice(0, wild).join("/"), rest: segments.slice(wild).join("/") };
}

function splitLast(segments: readonly string[]): { base: string; rest: string } {
  return { base: segments.slice(0, -1).join("/"), rest: segments.at(-1) ?? "" };
}
