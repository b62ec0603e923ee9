import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** Makes a repository with everything that {@link laterAttempts} aims at, and a linked worktree of it. */
export async function openLaterFolder(folder: string, linked: string, scratch: string): Promise<void> {
  const run = async (place: string, ...args: readonly string[]): Promise<void> => {
    const own = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always"];
    await promisify(execFile)("git", ["-C", place, ...own, ...args], { timeout: 60_000 });
  };
  const sub = join(scratch, "sub");
  for (const place of [sub, folder]) {
    await mkdir(place, { recursive: true });
    await run(place, "init", "-q");
    await run(place, "commit", "-q", "--allow-empty", "-m", "one");
  }
  await run(folder, "submodule", "--quiet", "add", sub, "sub");
  for (const path of [".vscode", ".githooks"]) await mkdir(join(folder, path));
  for (const path of [".vscode/tasks.json", ".envrc", ".githooks/pre-commit", "shared.gitconfig"])
    await writeFile(join(folder, path), "");
  await run(folder, "worktree", "add", "-q", linked);
  await run(folder, "config", "core.hooksPath", ".githooks");
  await run(folder, "config", "include.path", "../shared.gitconfig");
  await run(folder, "config", "extensions.worktreeConfig", "true");
  await run(folder, "config", "--worktree", "core.quotePath", "true");
}
