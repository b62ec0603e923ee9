import { posix } from "node:path";
import type { Action } from "@convoke/protocol";
import { pathsInPatch } from "@convoke/tool-host";
import { argumentsOf, type RulePlaces } from "./rule.ts";

/**
 * The files and folders that an action names: in `path`, `file_path` and `dir_path`, in a patch, and where the pattern of a
 * search for names begins. Absolute and without `..`; below `~` where the home is not known. Empty for an action without one.
 */
export function pathsOf(action: Action, places: RulePlaces): string[] {
  const { patch, path, file_path: file, dir_path: folder, pattern } = argumentsOf(action);
  const named =
    typeof patch === "string" ? pathsInPatch(patch) : [path, file, folder, ...startOf(action, pattern)];
  return named.flatMap((one) =>
    typeof one === "string" && one !== "" ? [absolute(expandHome(one, places), places)] : [],
  );
}

/** Whether a path is one that the pattern names. Links are not followed: only the texts are compared. */
export function fitsPath(pattern: string, path: string, places: RulePlaces): boolean {
  return fitsSegments(readPattern(pattern, places), segmentsOf(path));
}

/** Whether the text begins in the home of the user that runs the tools. */
function isBelowHome(text: string): boolean {
  return text === "~" || text.startsWith("~/");
}

/** A search for names by a pattern that leads out of its folder begins where its first `*` stands. */
function startOf({ kind }: Action, pattern: unknown): string[] {
  if (kind !== "GlobAction" || typeof pattern !== "string") return [];
  if (!pattern.startsWith("/") && !pattern.startsWith("../") && !isBelowHome(pattern)) return [];
  const segments = pattern.split("/");
  const at = segments.findIndex((segment) => /[*?[{]/u.test(segment));
  const start = (at === -1 ? segments : segments.slice(0, at)).join("/");
  return [start === "" ? "/" : start];
}

function expandHome(text: string, { home }: RulePlaces): string {
  return home !== null && isBelowHome(text) ? `${home}${text.slice(1)}` : text;
}

function absolute(path: string, { workingDir }: RulePlaces): string {
  return isBelowHome(path) ? posix.normalize(path) : posix.resolve(workingDir, path);
}

/** A segment that is compared as it is, or one in which `*` and `?` have their meaning. */
type Segment = { readonly text: string; readonly isPattern: boolean };

/** `..` takes the segment before it away, also one of the working folder; a pattern that ends with `/` names all below. */
function readPattern(pattern: string, places: RulePlaces): Segment[] {
  const begin = isBelowHome(pattern)
    ? (places.home ?? "~")
    : pattern.startsWith("/")
      ? ""
      : places.workingDir;
  const segments = segmentsOf(begin).map((text): Segment => ({ text, isPattern: false }));
  for (const text of segmentsOf(isBelowHome(pattern) ? pattern.slice(1) : pattern)) {
    if (text === "..") segments.pop();
    else if (text !== ".") segments.push({ text, isPattern: true });
  }
  if (pattern.endsWith("/")) segments.push({ text: "**", isPattern: true });
  return segments;
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "");
}

/** `**` stands for any number of folders, `*` and `?` stay in one name. Time is the product of both lengths. */
function fitsSegments(pattern: readonly Segment[], path: readonly string[]): boolean {
  let fitting = new Set([0]);
  for (const { text, isPattern } of pattern) {
    const next = new Set<number>();
    for (const at of fitting) {
      if (isPattern && text === "**") for (let end = at; end <= path.length; end += 1) next.add(end);
      else if (at < path.length && (isPattern ? fitsName(text, path[at]!) : text === path[at]))
        next.add(at + 1);
    }
    fitting = next;
  }
  return fitting.has(path.length);
}

/** The usual comparison with one place to go back to. */
function fitsName(pattern: string, name: string): boolean {
  let [at, to, star, starTo] = [0, 0, -1, 0];
  while (to < name.length) {
    if (pattern[at] === "*") [star, starTo, at] = [at, to, at + 1];
    else if (pattern[at] === "?" || pattern[at] === name[to]) [at, to] = [at + 1, to + 1];
    else if (star >= 0) [at, starTo, to] = [star + 1, starTo + 1, starTo + 1];
    else return false;
  }
  return /^\**$/u.test(pattern.slice(at));
}
