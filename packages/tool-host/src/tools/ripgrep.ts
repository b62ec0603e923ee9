import { spawn } from "node:child_process";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { ToolInputError } from "../tool.ts";
import { findTwin } from "./file-editor/find-twin.ts";

export type RipgrepSearch = {
  /** Arguments beyond those every search has; patterns go in as `-e` or `-g` values, paths after `--`. */
  readonly arguments: readonly string[];
  /** The directory to run in; file names in the result begin here. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** 30,000 ms unless given. */
  readonly limitMs?: number;
  /** When the limit began to count, by `performance.now()`, for one of several searches of one call; otherwise now. */
  readonly startedAt?: number;
};

/** How many files a search returns at most. */
export const maxFiles = 100;

export type FoundFiles = { readonly files: readonly string[]; readonly isTruncated: boolean };

/** Absolute file names of what ripgrep finds with `--files` or `--files-with-matches`, newest first, at most {@link maxFiles}. */
export async function findFiles(search: RipgrepSearch): Promise<FoundFiles> {
  // One file more than is returned proves that there are more.
  const output = await runRipgrep(search, (text) => text.split("\0").length > maxFiles + 1);
  // File names end with NUL, so the last piece is empty, or a name that was cut short.
  const names = output.split("\0").slice(0, -1);
  const files = names.slice(0, maxFiles).map((name) => join(search.directory, name));
  return { files, isTruncated: names.length > maxFiles };
}

/**
 * What ripgrep writes for a search, up to where that `isEnough`. Throws {@link ToolInputError} with ripgrep's words for a bad
 * pattern, and when time is up; never leaves the process behind.
 */
export async function runRipgrep(
  search: RipgrepSearch,
  isEnough: (output: string) => boolean,
): Promise<string> {
  search.signal.throwIfAborted();
  const limitMs = search.limitMs ?? defaultLimitMs;
  const spentMs = search.startedAt === undefined ? 0 : performance.now() - search.startedAt;
  const child = spawn(rgPath, [...commonArguments, ...search.arguments], {
    cwd: search.directory,
    env: search.environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let problem = "";
  let isTimeUp = false;
  const end = (): boolean => child.kill("SIGKILL");
  const timer = setTimeout(() => {
    isTimeUp = true;
    end();
  }, limitMs - spentMs);
  search.signal.addEventListener("abort", end, { once: true });
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    if (isEnough(output)) end();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    problem = (problem + text).slice(0, maxProblemLength);
  });
  try {
    await once(child, "close");
  } finally {
    clearTimeout(timer);
    search.signal.removeEventListener("abort", end);
  }
  search.signal.throwIfAborted();
  if (isTimeUp) {
    throw new ToolInputError(
      `The search took longer than ${limitMs / 1_000} seconds and was stopped. Search a smaller directory or use a narrower pattern.`,
    );
  }
  // Unreadable files are passed over in silence, so words on stderr mean that the pattern was refused.
  if (output === "" && problem !== "") throw new ToolInputError(describeProblem(problem));
  return output;
}

/** The directory a search begins in; `~` and relative paths are resolved against home and workspace. */
export async function resolveDirectory(path: string, context: SearchPlace): Promise<string> {
  const directory = await findTwin(resolvePath(path, context));
  const stats = await stat(directory).catch(() => undefined); // Whatever the reason, it cannot be searched.
  if (stats?.isDirectory() !== true) {
    throw new ToolInputError(`Invalid parameter path: ${directory} is not a directory that can be searched.`);
  }
  return directory;
}

export type SearchPlace = {
  readonly workspaceDir: string;
  readonly environment: Readonly<Record<string, string>>;
};

/** An absolute form of a path that may begin with `~` or be relative to the workspace. */
export function resolvePath(path: string, place: SearchPlace): string {
  if (path.includes("\0")) throw new ToolInputError("Invalid parameter path: it contains a NUL character.");
  const expanded =
    path === "~" || path.startsWith("~/")
      ? join(place.environment["HOME"] ?? homedir(), path.slice(1))
      : path;
  return isAbsolute(expanded) ? resolve(expanded) : resolve(place.workspaceDir, expanded);
}

const defaultLimitMs = 30_000;
const maxProblemLength = 4_000;

/** No configuration file of the user, no complaints about unreadable files, names ended by NUL, newest first. */
const commonArguments = ["--no-config", "--no-messages", "--null", "--color=never", "--sortr=modified"];

/** The part of ripgrep's complaint that says what is wrong with the pattern. */
function describeProblem(problem: string): string {
  const reason = /^error: (.+)$/m.exec(problem)?.[1] ?? problem.replace(/^rg: /, "").trim();
  return `Invalid parameter: the pattern was refused: ${reason}`;
}
