import { spawn } from "node:child_process";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { ToolInputError } from "../tool.ts";
import { findTwin } from "./file-editor/find-twin.ts";

export type RipgrepSearch = {
  /** Arguments in addition to those of every search; patterns as `-e` or `-g` values, paths after `--`. */
  readonly arguments: readonly string[];
  /** Working directory; file names in the result are relative to it. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Timeout in milliseconds; 30,000 unless given. */
  readonly limitMs?: number;
  /** Start of the timeout, by `performance.now()`, when one call runs several searches; otherwise now. */
  readonly startedAt?: number;
};

/** Maximum number of files that a search returns. */
export const maxFiles = 100;

export type FoundFiles = { readonly files: readonly string[]; readonly isTruncated: boolean };

/** Absolute names of the files that ripgrep finds with `--files` or `--files-with-matches`, newest first, at most {@link maxFiles}. */
export async function findFiles(search: RipgrepSearch): Promise<FoundFiles> {
  // One file more than the maximum proves that there are more.
  const output = await runRipgrep(search, (text) => text.split("\0").length > maxFiles + 1);
  // File names end with NUL, so the last part is empty, or an incomplete name.
  const names = output.split("\0").slice(0, -1);
  const files = names.slice(0, maxFiles).map((name) => join(search.directory, name));
  return { files, isTruncated: names.length > maxFiles };
}

/**
 * Output of ripgrep, until `isEnough` returns true. Throws {@link ToolInputError} with ripgrep's message for an invalid pattern, and on
 * a timeout. Never leaves the process behind.
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
  // Unreadable files are skipped silently, so text on stderr means that the pattern was rejected.
  if (output === "" && problem !== "") throw new ToolInputError(describeProblem(problem));
  return output;
}

/** The directory of a search; `~` and relative paths are resolved against home and workspace. */
export async function resolveDirectory(path: string, context: SearchPlace): Promise<string> {
  const directory = await findTwin(resolvePath(path, context));
  const stats = await stat(directory).catch(() => undefined); // Not searchable, for whatever reason.
  if (stats?.isDirectory() !== true) {
    throw new ToolInputError(`Invalid parameter path: ${directory} is not a directory that can be searched.`);
  }
  return directory;
}

export type SearchPlace = {
  readonly workspaceDir: string;
  readonly environment: Readonly<Record<string, string>>;
};

/** The absolute form of a path that may begin with `~` or be relative to the workspace. */
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

/** No configuration file of the user, no messages about unreadable files, names ended by NUL, newest first. */
const commonArguments = ["--no-config", "--no-messages", "--null", "--color=never", "--sortr=modified"];

/** The part of ripgrep's message that explains what is wrong with the pattern. */
function describeProblem(problem: string): string {
  const reason = /^error: (.+)$/m.exec(problem)?.[1] ?? problem.replace(/^rg: /, "").trim();
  return `Invalid parameter: the pattern was refused: ${reason}`;
}
