import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import {
  appendFile,
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import iconv from "iconv-lite";
import { expect, onTestFinished, test, vi } from "vitest";
import { openTemporaryDirectory } from "../testing/temporary-directory.ts";
import { createLocalWorkspace } from "./local-workspace.ts";

const run = promisify(execFile);

/** Names that git quotes, or takes for something else, unless an option prevents it. */
const odd = [
  "with space.txt",
  'quo"te.txt',
  "line\nbreak.txt",
  "ünïcødé 文.txt",
  "tab\t.txt",
  "-dash.txt",
  ":colon.txt",
];

test("W33: changed, new, deleted and renamed files, with spaces, quotes, line breaks and other alphabets", async () => {
  const repository = await openRepository();
  for (const name of [...odd, "gone.txt", "old name.txt", "same.txt", "deep/er/file.txt"]) {
    await repository.write(name, `${name}\n`);
  }
  await repository.commit();
  for (const name of odd) await repository.write(name, "changed\n");
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
      ...odd.map((path) => ({ status: "UPDATED", path })),
      { status: "ADDED", path: ".gitignore" },
      { status: "DELETED", path: "deep/er/file.txt" },
      { status: "DELETED", path: "gone.txt" },
      { status: "ADDED", path: "new name.txt" },
      { status: "DELETED", path: "old name.txt" },
      { status: "ADDED", path: "untracked file.txt" },
    ].sort((left, right) => (left.path < right.path ? -1 : 1)),
  );
  for (const name of odd) {
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

test("a repository's configuration starts no program and its lock is not taken", async () => {
  const repository = await openRepository();
  await repository.write("file.txt", "1\n");
  await repository.write(".gitattributes", "*.txt filter=evil diff=evil\n");
  await repository.commit();
  const mark = join(dirname(repository.dir), "ran");
  const program = `touch ${mark}; cat`;
  for (const name of [
    "filter.evil.clean",
    "filter.evil.process",
    "diff.evil.textconv",
    "diff.evil.command",
  ]) {
    await repository.git("config", name, program);
  }
  for (const name of ["diff.external", "core.fsmonitor", "core.pager", "pager.diff"]) {
    await repository.git("config", name, program);
  }
  await appendFile(repository.at("file.txt"), "2\n");
  await writeFile(repository.at(".git/index.lock"), "");
  expect(await repository.workspace.gitChanges(repository.dir)).toEqual([
    { status: "UPDATED", path: "file.txt" },
  ]);
  expect(await repository.workspace.gitDiff(repository.at("file.txt"))).toEqual({
    modified: "1\n2",
    original: "1",
  });
  expect(existsSync(mark)).toBe(false);
});

test("a listing and a patch take no lock of the repository, also where files differ in nothing but their time", async () => {
  const repository = await openRepository();
  await repository.write("same.txt", "same");
  await repository.write("changed.txt", "first");
  await repository.commit();
  await repository.write("changed.txt", "second");
  const index = async () => await stat(repository.at(".git/index"), { bigint: true });
  const { ino, mtimeNs } = await index();
  for (const method of ["gitChanges", "gitPatch"] as const) {
    await utimes(repository.at("same.txt"), 1_000_000_000, 1_000_000_000);
    await repository.workspace[method](repository.dir);
    expect(await index(), method).toMatchObject({ ino, mtimeNs });
  }
  expect(await repository.workspace.gitChanges(repository.dir)).toEqual([
    { status: "UPDATED", path: "changed.txt" },
  ]);
});

test("8: a repository that changes its configuration all the time gets no program started", async () => {
  const repository = await openRepository();
  await repository.write("file.txt", "1\n");
  await repository.commit();
  await appendFile(repository.at("file.txt"), "2\n");
  const mark = join(dirname(repository.dir), "ran");
  const config = await readFile(repository.at(".git/config"), "utf8");
  await writeFile(join(dirname(repository.dir), "config"), config);
  const program = `touch ${mark}; cat`;
  const script = `i=0; while :; do i=$((i + 1))
    { cat ../config; printf '[filter "f%s"]\\n\\tclean = "%s"\\n' "$i" "${program}"; } > .git/next
    mv .git/next .git/config; echo "*.txt filter=f$i" > .git/info/attributes; touch file.txt
  done`;
  const attacker = spawn("/bin/sh", ["-c", script], { cwd: repository.dir, stdio: "ignore" });
  onTestFinished(() => void attacker.kill("SIGKILL"));
  for (let round = 0; round < 40; round += 1) {
    expect(await repository.workspace.gitChanges(repository.dir)).toEqual([
      { status: "UPDATED", path: "file.txt" },
    ]);
  }
  expect(existsSync(mark)).toBe(false);
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

test("no temporary files for git are left", async () => {
  const repository = await openRepository();
  await repository.write("file.txt", "1\n");
  await repository.commit();
  const temporary = join(dirname(repository.dir), "tmp");
  await mkdir(temporary);
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  await repository.workspace.gitChanges(repository.dir);
  await repository.workspace.gitPatch(repository.dir);
  expect(await readdir(temporary)).toEqual([]);
});

test("P31: a repository outside of the root, or pointing there, is ignored", async () => {
  const repository = await openRepository();
  await repository.write("inside/file.txt", "x");
  await repository.commit();
  await repository.write("inside/file.txt", "changed");
  const jailed = createLocalWorkspace({ root: repository.at("inside"), environment: repository.environment });
  expect(await jailed.gitChanges(repository.at("inside"))).toEqual([]);
  await repository.write("inside/.git", `gitdir: ${repository.at(".git")}\n`);
  expect(await jailed.gitChanges(repository.at("inside"))).toEqual([]);
  expect(await jailed.gitDiff(repository.at("inside/file.txt"))).toEqual({ modified: null, original: null });
});

test("W33: a patch turns the base into the working tree, untracked and odd files too, without changing the repository", async () => {
  const repository = await openRepository();
  for (const name of [...odd, "gone.txt", "deep/er/file.txt", "staged.txt"])
    await repository.write(name, "old\n");
  await repository.commit();
  const clone = join(dirname(repository.dir), "clone");
  await run("git", ["clone", "-q", repository.dir, clone], { env: repository.environment });
  for (const name of odd) await repository.write(name, "changed\n");
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

async function openRepository() {
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
