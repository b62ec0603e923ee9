import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { appendFile, mkdir, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createLocalWorkspace } from "./local-workspace.ts";
import { openRepository } from "./testing/open-repository.ts";

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

/** More with `CONVOKE_EVERY_CASE=1`. */
const rounds = process.env["CONVOKE_EVERY_CASE"] === "1" ? 200 : 15;

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
  for (let round = 0; round < rounds; round += 1) {
    expect(await repository.workspace.gitChanges(repository.dir)).toEqual([
      { status: "UPDATED", path: "file.txt" },
    ]);
  }
  expect(existsSync(mark)).toBe(false);
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
