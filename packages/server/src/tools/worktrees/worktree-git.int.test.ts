import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { allowedEnvironment, createInProcessHost, type ToolHost } from "@convoke/tool-host";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { silentLogger } from "../../lib/logger.ts";
import { checkLeaksAfterEach } from "../../testing/check-leaks.ts";
import { TaskWorktrees } from "./task-worktrees.ts";
import { RepositoryQueues } from "./repository-queues.ts";
import { git } from "./worktree-git.ts";
import { Worktrees } from "./worktrees.ts";
import type { Worktree } from "../../engine/worktree.ts";

checkLeaksAfterEach();

function plainGit(directory: string, ...args: string[]): string {
  const identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
  return execFileSync("git", ["-C", directory, ...identity, ...args], { encoding: "utf8" }).trim();
}

async function open(): Promise<AsyncDisposable & { folder: string; repository: string; host: ToolHost }> {
  await using scope = new AsyncDisposableStack();
  const folder = scope.use(await openTemporaryDirectory()).path;
  const host = scope.use(createInProcessHost({ tools: [], environment: allowedEnvironment(process.env) }));
  const repository = join(folder, "project");
  mkdirSync(repository);
  plainGit(repository, "init", "--quiet", "-b", "main");
  writeFileSync(join(repository, "a.txt"), "a");
  writeFileSync(join(repository, "b.txt"), "b");
  plainGit(repository, "add", ".");
  plainGit(repository, "commit", "--quiet", "-m", "first");
  const owned = scope.move();
  return { folder, repository, host, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function makeWorktree(
  { folder, host }: { folder: string; host: ToolHost },
  queues: RepositoryQueues,
  { id, workingDir }: { id: string; workingDir: string },
): Promise<Worktree> {
  const parentDir = join(folder, "worktrees");
  const order = { conversationId: id, workingDir, parentDir, nowMicros: 0 };
  const made = await new Worktrees(silentLogger, queues).make(host, { ...order, options: { base: "head" } });
  return made.worktree!;
}

/** Calls `atTry` before each start of a git command, with how many times it has been started before. */
function watched(
  host: ToolHost,
  command: string,
  atTry: (before: number) => void,
): Pick<ToolHost, "startProcess"> {
  let before = 0;
  return {
    startProcess: (spec) => {
      if (spec.args.includes(command)) atTry(before++);
      return host.startProcess(spec);
    },
  };
}

test("P18: worktrees of one repository, and those that sub-agents have of them, are one queue; another repository has its own", async () => {
  await using at = await open();
  const queues = new RepositoryQueues();
  const first = await makeWorktree(at, queues, { id: "first", workingDir: at.repository });
  const ofFirst = await makeWorktree(at, queues, { id: "of-first", workingDir: first.root });
  expect(ofFirst.repository).toBe(first.root);
  let inProgress = 0;
  let maxInProgress = 0;
  const job = async (): Promise<void> => {
    maxInProgress = Math.max(maxInProgress, ++inProgress);
    await git(at.host, at.repository, ["rev-parse", "HEAD"]);
    inProgress -= 1;
  };
  const places = [at.repository, first.root, ofFirst.root];
  await Promise.all([...places, ...places].map((place) => queues.post(at.host, place, job)));
  expect(maxInProgress).toBe(1);

  const other = join(at.folder, "other");
  plainGit(at.folder, "init", "--quiet", other);
  const isOtherDone = Promise.withResolvers<void>();
  const waiting = queues.post(at.host, first.root, () => isOtherDone.promise);
  await queues.post(at.host, other, async () => isOtherDone.resolve());
  await waiting;
});

test("issue 11.5: work is committed and merged when another git lets go of its locks", async () => {
  await using at = await open();
  const queues = new RepositoryQueues();
  const worktree = await makeWorktree(at, queues, { id: "task", workingDir: at.repository });
  writeFileSync(join(worktree.root, "new.txt"), "new");
  const ownLock = plainGit(worktree.root, "rev-parse", "--git-path", "index.lock");
  const lock = join(at.repository, ".git", "index.lock");
  writeFileSync(ownLock, "");
  writeFileSync(lock, "");
  const first = watched(at.host, "add", (before) => before === 1 && rmSync(ownLock));
  const host = watched(first as ToolHost, "merge", (before) => before === 2 && rmSync(lock));
  const finished = await new TaskWorktrees(queues).finish(host, { worktree, title: "Work", mayMerge: true });
  expect(finished).toBe(`Its changes are merged into ${at.repository}: new.txt.`);
});

test("what only looks at a repository takes no lock of it", async () => {
  await using at = await open();
  const index = join(at.repository, ".git", "index");
  const before = statSync(index, { bigint: true });
  // Git would note in the index that the file has changed in nothing but its time.
  utimesSync(join(at.repository, "a.txt"), 1_000_000_000, 1_000_000_000);
  expect(await git(at.host, at.repository, ["status", "--porcelain"])).toMatchObject({
    ok: true,
    output: "",
  });
  await git(at.host, at.repository, ["diff", "--name-only"]);
  expect(statSync(index, { bigint: true })).toMatchObject({ ino: before.ino, mtimeNs: before.mtimeNs });
});

test("P6: a worktree whose making was cut off is made again; one that is complete stays as it is", async () => {
  await using at = await open();
  const queues = new RepositoryQueues();
  const order = { id: "task", workingDir: at.repository };
  const { root, branch } = await makeWorktree(at, queues, order);
  writeFileSync(join(root, "own.txt"), "own");
  await makeWorktree(at, queues, order);
  expect(plainGit(root, "status", "--porcelain")).toBe("?? own.txt");

  // As git leaves it that is killed before it has written all files.
  const entry = plainGit(root, "rev-parse", "--git-dir");
  writeFileSync(join(entry, "locked"), "initializing");
  rmSync(join(entry, "index"));
  for (const name of ["own.txt", "b.txt"]) rmSync(join(root, name));
  expect(await makeWorktree(at, queues, order)).toMatchObject({ root, branch });
  expect(plainGit(root, "status", "--porcelain")).toBe("");
  expect(plainGit(at.repository, "worktree", "list", "--porcelain")).not.toContain("locked");
});
