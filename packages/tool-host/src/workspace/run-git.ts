import { spawn } from "node:child_process";
import { once } from "node:events";
import { access } from "node:fs/promises";
import { dirname } from "node:path";
import { PrivateRepositories } from "./private-repository.ts";
import { toWorkspaceError } from "./root-jail.ts";
import { WorkspaceError } from "./workspace.ts";

export type GitDeps = {
  readonly environment: Readonly<Record<string, string>>;
  /** Repositories outside of it are ignored. */
  readonly root: string | undefined;
  readonly repositories: PrivateRepositories;
  /** True when paths are pathspecs with magic signatures; otherwise they are literal. */
  readonly hasPatterns?: true;
};

/** Calls a task with functions to query git; cleans up afterwards. */
export async function withGit<Result>(
  place: Omit<GitDeps, "repositories">,
  task: (deps: GitDeps) => Promise<Result>,
): Promise<Result> {
  await using repositories = new PrivateRepositories({
    root: place.root,
    askGit: async (directory, parameters) => {
      const { code, output, problem } = await start(place, directory, parameters);
      return { answer: code === 0 ? output.toString("utf8") : undefined, problem };
    },
  });
  return await task({ ...place, repositories });
}

export type GitResult = {
  readonly code: number | null;
  readonly output: Buffer;
  /** Git's error message on one line. */
  readonly problem: string;
};

/** A repository exists that git cannot use. */
export function badRepository(what: string, { problem }: Pick<GitResult, "problem">): WorkspaceError {
  return new WorkspaceError("bad-repository", `${what}${problem === "" ? "" : `: ${problem}`}.`);
}

const timeoutMs = 30_000;
const maxProblemLength = 4_000;
/** More than any shown listing or text needs. */
const maxOutputBytes = 32 * 1024 * 1024;

/**
 * Runs git in an untrusted directory: no program that the repository's configuration names is started, and nothing is written, locked,
 * fetched or prompted for. Outside of a repository it fails with 128, as git does. Rejects when git is missing, takes too long or
 * prints too much.
 */
export async function runGit(
  deps: GitDeps,
  directory: string,
  parameters: readonly string[],
): Promise<GitResult> {
  if (parameters.some((parameter) => parameter.includes("\0")))
    throw new WorkspaceError("invalid-path", "A path may not hold NUL.");
  const repository = await deps.repositories.at(directory);
  if (repository === undefined) return { code: 128, output: Buffer.alloc(0), problem: "" };
  const place = { ...deps, environment: { ...deps.environment, ...repository.environment } };
  const filters = comparing.has(parameters[0] ?? "") ? await listFilters(place, directory) : [];
  return start(place, directory, [...filters.flatMap(disableFilter), ...parameters]);
}

type Place = Omit<GitDeps, "repositories">;

/** The commands that read files of the working tree. */
const comparing = new Set(["add", "diff", "status"]);

/**
 * The repository can only name filters, not define their commands; but filters of this machine's own configuration would read
 * settings of the repository. Git has no switch for all of them, so each is disabled by name.
 */
async function listFilters(deps: Place, directory: string): Promise<string[]> {
  const { output } = await start(deps, directory, [
    "config",
    "--null",
    "--name-only",
    "--get-regexp",
    "^filter\\..*\\.(clean|smudge|process|required)$",
  ]);
  const names = output.toString("utf8").split("\0").filter(Boolean);
  return [...new Set(names.map((name) => name.slice(0, name.lastIndexOf("."))))];
}

function disableFilter(filter: string): string[] {
  // A name with "=" could not be overridden: git would read the value from there on.
  if (filter.includes("="))
    throw new WorkspaceError("not-permitted", "The configuration of git has an unusable filter.");
  return [`${filter}.clean=`, `${filter}.smudge=`, `${filter}.process=`, `${filter}.required=false`].flatMap(
    (setting) => ["-c", setting],
  );
}

/** Command line settings win over all others. Foreign owners are fine because no program of theirs is run. */
const safeSettings = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.pager=cat",
  "core.quotePath=false",
  "protocol.allow=never",
  "safe.directory=*",
  "submodule.recurse=false",
].flatMap((setting) => ["-c", setting]);

async function start(deps: Place, directory: string, parameters: readonly string[]): Promise<GitResult> {
  const pathspecs = deps.hasPatterns === true ? "--no-literal-pathspecs" : "--literal-pathspecs";
  const child = spawn("git", ["--no-pager", pathspecs, ...safeSettings, ...parameters], {
    cwd: directory,
    env: {
      ...deps.environment,
      GIT_OPTIONAL_LOCKS: "0",
      GIT_TERMINAL_PROMPT: "0",
      GIT_NO_LAZY_FETCH: "1",
      LC_ALL: "C",
      ...(deps.root === undefined ? {} : { GIT_CEILING_DIRECTORIES: dirname(deps.root) }),
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  const ended = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  ended.catch(() => {}); // Awaited below; an earlier error must not count as unhandled.
  const parts: Buffer[] = [];
  let byteCount = 0;
  child.stdout.on("data", (bytes: Buffer) => {
    byteCount += bytes.length;
    if (byteCount > maxOutputBytes) child.kill("SIGKILL");
    else parts.push(bytes);
  });
  let errorOutput = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    if (errorOutput.length < maxProblemLength) errorOutput += text.slice(0, maxProblemLength);
  });
  const [code, signal] = await ended.catch(async (error: unknown) => {
    // The directory may have been deleted since it was resolved; the system reports that like a missing program.
    await access(directory).catch((absent: unknown) => {
      throw toWorkspaceError(absent, directory);
    });
    throw new Error("The program git cannot be started here.", { cause: error });
  });
  if (byteCount > maxOutputBytes)
    throw new WorkspaceError("too-large", "The repository has too many changes to list.");
  if (signal !== null) throw new Error(`git did not answer within ${timeoutMs / 1_000} s.`);
  return { code, output: Buffer.concat(parts), problem: firstProblem(errorOutput) };
}

/** Its error output from the failure on, on one line and without its full stop. */
function firstProblem(errorOutput: string): string {
  const from = errorOutput.slice(Math.max(0, errorOutput.search(/^(?:fatal|error): /mu)));
  const line = from
    .replace(/^(?:fatal|error): /u, "")
    .replace(/\s+/gu, " ")
    .trim();
  return line.slice(0, 300).toWellFormed().replace(/\.$/u, "");
}
