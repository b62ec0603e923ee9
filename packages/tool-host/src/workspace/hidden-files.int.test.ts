import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { openTemporaryDirectory } from "../testing/temporary-directory.ts";
import { hideFolder } from "./hidden-files.ts";
import { createLocalWorkspace } from "./local-workspace.ts";

const run = promisify(execFile);
const environment = { PATH: process.env["PATH"] ?? "" };

test("a hidden folder is refused, but for what is shown of it", async () => {
  await using root = await openTemporaryDirectory();
  const folder = join(root.path, "data");
  const served = ["worktrees/one/file", "conversations/x/wall/worktrees/two/file"];
  const unserved = ["key", "worktrees.txt", "conversations/x/wall/file", "conversations/x/file"];
  for (const name of [...served, ...unserved]) {
    await mkdir(join(folder, name, ".."), { recursive: true });
    await writeFile(join(folder, name), "content");
  }
  // The parent would show everything.
  const shown = ["worktrees", "conversations/*/wall/worktrees", ".."].map((name) => join(folder, name));
  const workspace = createLocalWorkspace({ environment, hidden: hideFolder({ folder, shown }) });
  const read = async (name: string): Promise<string> =>
    await text((await workspace.readFile(join(folder, name))).content);
  for (const name of served) expect(await read(name)).toBe("content");
  for (const name of unserved) await expect(read(name)).rejects.toMatchObject({ code: "not-permitted" });
  await expect(workspace.list(folder)).rejects.toMatchObject({ code: "not-permitted" });
  await expect(workspace.readFile("/proc/self/environ")).rejects.toMatchObject({ code: "not-permitted" });
});

test("the patch of a repository around it leaves it out", async () => {
  await using root = await openTemporaryDirectory();
  const folder = join(root.path, "d[a]ta");
  await mkdir(folder);
  await writeFile(join(folder, "key"), "secret-of-data");
  await writeFile(join(root.path, "mine"), "work-of-ada");
  const git = ["-C", root.path, "-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  await run("git", ["init", "--quiet", root.path]);
  await run("git", [...git, "commit", "--quiet", "--allow-empty", "-m", "one"]);
  const patchWith = async (shown: readonly string[] | null): Promise<string> => {
    const hidden = shown === null ? undefined : hideFolder({ folder, shown });
    const workspace = createLocalWorkspace({ environment, hidden });
    return await text((await workspace.gitPatch(root.path)).content);
  };
  expect(await patchWith(null)).toContain("secret-of-data");
  const patch = await patchWith([]);
  expect(patch).toContain("work-of-ada");
  expect(patch).not.toContain("secret-of-data");
});
