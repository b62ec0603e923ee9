import { existsSync } from "node:fs";
import { chmod, lstat, mkdir, readFile, rm, stat, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { openRepository } from "./testing/open-repository.ts";

test("one file is restored: changed, deleted with its directory, new, a link, executable", async () => {
  const repository = await openRepository();
  await repository.write("deep/er/gone.txt", "one\r\n\n");
  await repository.write("changed.sh", "#!/bin/sh\n");
  await repository.write("kept.txt", "kept");
  await repository.write("was file", "content");
  await chmod(repository.at("changed.sh"), 0o755);
  await repository.commit();
  await rm(repository.at("deep"), { recursive: true });
  await repository.write("changed.sh", "exit 1");
  await chmod(repository.at("changed.sh"), 0o600);
  await repository.write("new.txt", "new");
  await repository.write("elsewhere", "not to be touched");
  await rm(repository.at("was file"));
  await symlink("elsewhere", repository.at("was file"));
  const restore = async (name: string) => repository.workspace.gitRestore(repository.at(name), "HEAD");
  for (const name of ["deep/er/gone.txt", "changed.sh", "new.txt", "was file", "never.txt"])
    await restore(name);
  expect(await readFile(repository.at("deep/er/gone.txt"), "utf8")).toBe("one\r\n\n");
  expect(await readFile(repository.at("changed.sh"), "utf8")).toBe("#!/bin/sh\n");
  expect((await stat(repository.at("changed.sh"))).mode & 0o777).toBe(0o700);
  expect(existsSync(repository.at("new.txt"))).toBe(false);
  expect((await lstat(repository.at("was file"))).isFile()).toBe(true);
  expect(await readFile(repository.at("was file"), "utf8")).toBe("content");
  expect(await readFile(repository.at("elsewhere"), "utf8")).toBe("not to be touched");
  expect(await repository.workspace.gitChanges(repository.dir, "HEAD")).toEqual([
    { status: "ADDED", path: "elsewhere" },
  ]);
});

test("unrestorable files are refused, and nothing outside of the root is written or removed", async () => {
  const repository = await openRepository();
  await repository.write("inner/file.txt", "inner");
  await repository.write("outer.txt", "outer");
  await repository.write("large.bin", "pointer");
  await repository.write(".gitattributes", "*.bin filter=lfs\n");
  await symlink("outer.txt", repository.at("link"));
  await repository.commit();
  await repository.write("outer.txt", "changed");
  await rm(repository.at("link"));
  await mkdir(repository.at("directory"));
  const restore = async (name: string, ref?: string) =>
    repository.workspace.gitRestore(repository.at(name), ref);
  await expect(restore("large.bin", "HEAD")).rejects.toMatchObject({ code: "not-permitted" });
  await expect(restore("link", "HEAD")).rejects.toMatchObject({ code: "not-a-file" });
  await expect(restore("directory", "HEAD")).rejects.toMatchObject({ code: "not-a-file" });
  await expect(restore("inner", "HEAD")).rejects.toMatchObject({ code: "not-a-file" });
  await expect(restore("outer.txt", "nonsense")).rejects.toMatchObject({ code: "bad-ref" });
  await expect(restore("outer.txt", "--output=x")).rejects.toMatchObject({ code: "bad-ref" });
  const plain = join(dirname(repository.dir), "plain");
  await mkdir(plain);
  await expect(repository.workspace.gitRestore(join(plain, "x"))).rejects.toMatchObject({
    code: "no-repository",
  });
  const inner = repository.workspace.within(repository.at("inner"));
  await expect(inner.gitRestore(repository.at("outer.txt"), "HEAD")).rejects.toMatchObject({
    code: "outside-root",
  });
  await symlink(repository.dir, repository.at("inner/up"));
  await expect(inner.gitRestore(repository.at("inner/up/outer.txt"), "HEAD")).rejects.toMatchObject({
    code: "outside-root",
  });
  expect(await readFile(repository.at("outer.txt"), "utf8")).toBe("changed");
});
