import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { oddNames, openRepository } from "./testing/open-repository.ts";

const run = promisify(execFile);

test("W33: a patch turns the base into the working tree, untracked and odd files too, without changing the repository", async () => {
  const repository = await openRepository();
  for (const name of [...oddNames, "gone.txt", "deep/er/file.txt", "staged.txt"])
    await repository.write(name, "old\n");
  await repository.commit();
  const clone = join(dirname(repository.dir), "clone");
  await run("git", ["clone", "-q", repository.dir, clone], { env: repository.environment });
  for (const name of oddNames) await repository.write(name, "changed\n");
  await rm(repository.at("gone.txt"));
  await repository.write("staged.txt", "staged\n");
  await repository.git("add", "staged.txt");
  await repository.write('new/ünï "new".txt', "new without an end of line");
  await writeFile(repository.at("binary"), Buffer.from([0, 255, 1, 254, 10, 0]));
  await symlink("nowhere", repository.at("link"));
  await repository.write("ignored.log", "x");
  await repository.write(".gitignore", "*.log\n");
  await repository.write(".gitattributes", "*.txt filter=evil\n");
  await repository.git("config", "filter.evil.clean", `touch ${join(dirname(repository.dir), "ran")}; cat`);
  await repository.write("inner/.git/HEAD", "ref: refs/heads/main\n");
  await mkdir(repository.at("inner/.git/objects"), { recursive: true });
  await mkdir(repository.at("inner/.git/refs"));
  const snapshot = async (): Promise<string[]> => [
    (await repository.git("ls-files", "--stage")).stdout,
    (await repository.git("count-objects", "-v")).stdout,
  ];
  const before = await snapshot();
  const { base, head, content } = await repository.workspace.gitPatch(repository.dir);
  await writeFile(join(clone, "..", "the.patch"), content);
  expect(await snapshot()).toEqual(before);
  const commit = (await repository.git("rev-parse", "HEAD")).stdout.trim();
  expect({ base, head }).toEqual({ base: commit, head: commit });
  await run("git", ["apply", "../the.patch"], { cwd: clone, env: repository.environment });
  const compared = await run(
    "diff",
    ["-r", "--no-dereference", "-x", ".git", "-x", "inner", "-x", "ignored.log", repository.dir, clone],
    { env: repository.environment },
  );
  expect(compared.stdout).toBe("");
  expect(existsSync(join(clone, "ignored.log"))).toBe(false);
  expect(existsSync(join(dirname(repository.dir), "ran"))).toBe(false);
  await expect(repository.workspace.gitPatch(repository.dir, "nope")).rejects.toMatchObject({
    code: "bad-ref",
  });
  await expect(repository.workspace.gitPatch(dirname(repository.dir))).rejects.toMatchObject({
    code: "no-repository",
  });
});
