import { mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import iconv from "iconv-lite";
import { expect, test } from "vitest";
import { oddNames, openRepository } from "./testing/open-repository.ts";

test("W33: changed, new, deleted and renamed files, with spaces, quotes, line breaks and other alphabets", async () => {
  const repository = await openRepository();
  for (const name of [...oddNames, "gone.txt", "old name.txt", "same.txt", "deep/er/file.txt"]) {
    await repository.write(name, `${name}\n`);
  }
  await repository.commit();
  for (const name of oddNames) await repository.write(name, "changed\n");
  await rm(repository.at("gone.txt"));
  await rm(repository.at("deep"), { recursive: true });
  await rename(repository.at("old name.txt"), repository.at("new name.txt"));
  await repository.git("add", "--all", "new name.txt");
  await repository.write("untracked file.txt", "new\n");
  await repository.write("ignored.log", "x");
  await repository.write(".gitignore", "*.log\n");
  const changes = await repository.workspace.gitChanges(repository.dir);
  expect(changes).toEqual(
    [
      ...oddNames.map((path) => ({ status: "UPDATED", path })),
      { status: "ADDED", path: ".gitignore" },
      { status: "DELETED", path: "deep/er/file.txt" },
      { status: "DELETED", path: "gone.txt" },
      { status: "ADDED", path: "new name.txt" },
      { status: "DELETED", path: "old name.txt" },
      { status: "ADDED", path: "untracked file.txt" },
    ].sort((left, right) => (left.path < right.path ? -1 : 1)),
  );
  for (const name of oddNames) {
    const diff = await repository.workspace.gitDiff(repository.at(name));
    expect(diff).toEqual({ modified: "changed", original: name });
  }
});

test("W33: both sides of new, deleted, unchanged and linked files", async () => {
  const repository = await openRepository();
  await repository.write("deep/er/gone.txt", "one\ntwo\n");
  await repository.write("same.txt", "same");
  await symlink("same.txt", repository.at("link"));
  await repository.commit();
  await rm(repository.at("deep"), { recursive: true });
  await rm(repository.at("link"));
  await symlink("/etc/passwd", repository.at("link"));
  await repository.write("new.txt", "new\r\n");
  const diff = async (name: string) => repository.workspace.gitDiff(repository.at(name));
  expect(await diff("deep/er/gone.txt")).toEqual({ modified: "", original: "one\ntwo" });
  expect(await diff("same.txt")).toEqual({ modified: "same", original: "same" });
  expect(await diff("link")).toEqual({ modified: "/etc/passwd", original: "same.txt" });
  expect(await diff("new.txt")).toEqual({ modified: "new", original: "" });
  await expect(diff("never.txt")).rejects.toMatchObject({ code: "not-found" });
});

test("binary and very large files are listed, and their texts refused with a reason", async () => {
  const repository = await openRepository();
  await repository.write("first.txt", "x");
  await repository.commit();
  await writeFile(repository.at("binary"), Buffer.from([0, 1, 2, 255]));
  await writeFile(repository.at("latin"), Buffer.from([0xe4, 0xf6]));
  await repository.write("large", "x".repeat(1024 * 1024 + 1));
  expect(await repository.workspace.gitChanges(repository.dir)).toHaveLength(3);
  const diff = async (name: string) => repository.workspace.gitDiff(repository.at(name));
  await expect(diff("binary")).rejects.toMatchObject({ code: "not-text" });
  expect(await diff("latin")).toEqual({ original: "", modified: "äö" });
  await expect(diff("large")).rejects.toMatchObject({ code: "too-large" });
});

test("K20: a text that is not UTF-8 has a diff, in one encoding for both sides", async () => {
  const repository = await openRepository();
  const chinese = "这是一个用国标编码的文本文件。\r\n它有几行中文内容，用来测试搜索。\r\n";
  const texts = { "latin1.txt": ["Grüße\n", "latin1"], "gbk.txt": [chinese, "gb18030"] } as const;
  for (const [name, [text, encoding]] of Object.entries(texts))
    await writeFile(repository.at(name), iconv.encode(text, encoding));
  await writeFile(repository.at("wide.txt"), Buffer.from("\ufeffwide\r\n", "utf16le"));
  await repository.write("plain.txt", "plain");
  await repository.commit();
  for (const [name, [text, encoding]] of Object.entries(texts))
    await writeFile(
      repository.at(name),
      iconv.encode(`${text}ä中\n`.replace(encoding === "latin1" ? "中" : "ä", ""), encoding),
    );
  await writeFile(repository.at("wide.txt"), Buffer.from("\ufeffwider\n", "utf16le"));
  await writeFile(repository.at("plain.txt"), Buffer.from("plän", "latin1"));
  const diff = async (name: string) => repository.workspace.gitDiff(repository.at(name));
  expect(await diff("latin1.txt")).toEqual({ original: "Grüße", modified: "Grüße\nä" });
  expect(await diff("gbk.txt")).toEqual({ original: chinese.trimEnd(), modified: `${chinese}中` });
  expect(await diff("wide.txt")).toEqual({ original: "wide", modified: "wider" });
  expect(await diff("plain.txt")).toEqual({ original: "plain", modified: "plän" });
});

test("K20: a repository that git cannot read does not count as one without changes", async () => {
  const repository = await openRepository();
  await repository.write("file.txt", "x");
  await repository.write("deep/er/file.txt", "x");
  await repository.commit();
  const config = await readFile(repository.at(".git/config"), "utf8");
  const { workspace, dir, at } = repository;
  const all = () => [
    workspace.gitChanges(dir),
    workspace.gitChanges(at("deep/er")),
    workspace.gitDiff(at("file.txt")),
    workspace.gitCommits(dir, 10),
    workspace.gitPatch(dir),
    workspace.gitRestore(at("file.txt"), "HEAD"),
  ];
  const refusals = async () =>
    Promise.all(
      all().map(async (asked) =>
        asked.then(
          () => "answered",
          (error: unknown) => String(error),
        ),
      ),
    );
  await writeFile(at(".git/config"), "[core\nbroken");
  for (const refusal of await refusals())
    expect(refusal).toMatch(/git cannot read .*bad config line 1 in file .*config/u);
  const archive = await workspace.archive(dir, []);
  expect(archive.repository).toBeNull();
  archive.content.destroy();
  await writeFile(
    at(".git/config"),
    `${config}[extensions]\n\tunknownthing = true\n[core]\n\trepositoryformatversion = 1\n`,
  );
  for (const refusal of await refusals()) expect(refusal).toContain("unknownthing");
  await writeFile(at(".git/config"), config);
  await writeFile(at(".git/index"), "broken");
  await expect(workspace.gitChanges(dir)).rejects.toMatchObject({ code: "bad-repository" });
  await rm(at(".git/index"));
  await writeFile(at(".git/HEAD"), "broken");
  for (const refusal of await refusals()) expect(refusal).toContain("git cannot read");
  await rm(at(".git"), { recursive: true });
  expect(await workspace.gitChanges(dir)).toEqual([]);
  await mkdir(at(".git"));
  expect(await workspace.gitChanges(dir)).toEqual([]);
});

test("outside of any repository nothing has changed; an unknown ref is named", async () => {
  const repository = await openRepository();
  const plain = join(dirname(repository.dir), "plain");
  await mkdir(plain);
  await writeFile(join(plain, "file"), "x");
  const { workspace } = repository;
  expect(await workspace.gitChanges(plain)).toEqual([]);
  expect(await workspace.gitChanges(join(plain, "missing"))).toEqual([]);
  expect(await workspace.gitDiff(join(plain, "file"))).toEqual({ modified: null, original: null });
  await repository.write("first.txt", "x");
  expect(await workspace.gitChanges(repository.dir)).toEqual([{ status: "ADDED", path: "first.txt" }]);
  await repository.commit();
  for (const path of ["\0", "a\0b", "first.txt\0"]) {
    await expect(workspace.gitDiff(`${repository.dir}/${path}`)).rejects.toMatchObject({
      code: "invalid-path",
    });
  }
  for (const ref of ["nowhere", "--output=/tmp/x", "", "HEAD\0"]) {
    await expect(workspace.gitChanges(repository.dir, ref)).rejects.toMatchObject({ code: "bad-ref" });
  }
});

test("without a ref: from the upstream, from where the branch left origin, from the local trunk, from HEAD", async () => {
  const repository = await openRepository();
  const names = async (ref?: string) =>
    (await repository.workspace.gitChanges(repository.dir, ref)).map(({ path }) => path);
  await repository.write("first.txt", "1");
  await repository.commit();
  expect(await names()).toEqual([]);
  await repository.git("checkout", "-q", "-b", "feature");
  await repository.write("second.txt", "2");
  await repository.commit();
  expect(await names()).toEqual(["second.txt"]);
  expect(await names("HEAD")).toEqual([]);
  const origin = join(dirname(repository.dir), "origin.git");
  await repository.git("init", "-q", "--bare", origin);
  await repository.git("remote", "add", "origin", origin);
  await repository.git("push", "-q", "origin", "main");
  await repository.git("push", "-q", "-u", "origin", "feature");
  expect(await names()).toEqual(["second.txt"]);
  await repository.write("third.txt", "3");
  expect(await names()).toEqual(["third.txt"]);
});

test("changes of repositories directly below are listed with their folder; a part of a repository shows its part", async () => {
  const outer = await openRepository();
  await outer.write("sub/kept.txt", "x");
  await outer.commit();
  await outer.write("sub/kept.txt", "changed");
  await outer.write("top.txt", "x");
  await mkdir(outer.at("inner dir"));
  await outer.git("init", "-q", "inner dir");
  await outer.write("inner dir/a.txt", "x");
  expect(await outer.workspace.gitChanges(outer.dir)).toEqual([
    { status: "ADDED", path: "inner dir/a.txt" },
    { status: "UPDATED", path: "sub/kept.txt" },
    { status: "ADDED", path: "top.txt" },
  ]);
  expect(await outer.workspace.gitChanges(outer.at("sub"))).toEqual([
    { status: "UPDATED", path: "kept.txt" },
  ]);
});

test("a linked working tree shows its own branch and files", async () => {
  const repository = await openRepository();
  await repository.write("file.txt", "1\n");
  await repository.commit();
  const tree = join(dirname(repository.dir), "tree");
  await repository.git("worktree", "add", "-q", "-b", "side", tree);
  await writeFile(join(tree, "file.txt"), "2\n");
  expect(await repository.workspace.gitChanges(tree)).toEqual([{ status: "UPDATED", path: "file.txt" }]);
  expect(await repository.workspace.gitDiff(join(tree, "file.txt"))).toEqual({
    modified: "2",
    original: "1",
  });
  expect(await repository.workspace.gitChanges(repository.dir)).toEqual([]);
});
