import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { openTemporaryDirectory } from "../../testing/temporary-directory.ts";
import { createLocalWorkspace } from "../local-workspace.ts";

const run = promisify(execFile);

/** Names that git quotes, or takes for something else, unless an option prevents it. */
export const oddNames = [
  "with space.txt",
  'quo"te.txt',
  "line\nbreak.txt",
  "ünïcødé 文.txt",
  "tab\t.txt",
  "-dash.txt",
  ":colon.txt",
];

/** A new repository without a commit, removed at the end of the test; `write` and `commit` work in it. */
export async function openRepository() {
  const directory = await openTemporaryDirectory();
  onTestFinished(async () => directory[Symbol.asyncDispose]());
  const dir = join(directory.path, "repo");
  const environment = {
    PATH: process.env["PATH"] ?? "",
    HOME: directory.path,
    GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a@example.org",
    GIT_COMMITTER_NAME: "a",
    GIT_COMMITTER_EMAIL: "a@example.org",
  };
  const git = async (...parameters: string[]) => run("git", parameters, { cwd: dir, env: environment });
  await mkdir(dir);
  await git("init", "-q", "-b", "main");
  const at = (name: string): string => join(dir, name);
  return {
    dir,
    environment,
    at,
    git,
    workspace: createLocalWorkspace({ environment }),
    write: async (name: string, text: string) => {
      await mkdir(dirname(at(name)), { recursive: true });
      await writeFile(at(name), text);
    },
    commit: async () => {
      await git("add", "--all");
      await git("commit", "-q", "-m", "next");
    },
  };
}
