import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { testedPrograms } from "@convoke/server/testing";
import { expect, test } from "vitest";

const { command } = testedPrograms();
const run = promisify(execFile);

async function convoke(
  home: string,
  ...words: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { PATH: process.env["PATH"] ?? "", HOME: home };
  try {
    return { code: 0, ...(await run(process.execPath, [command, ...words], { env })) };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

test("F5, F16: convoke backup copies a folder, and convoke doctor --check-data tells by its exit code whether it is whole", async () => {
  await using folder = await openTemporaryDirectory();
  const data = join(folder.path, ".convoke");
  const copy = join(folder.path, "copy");
  await mkdir(data);
  await convoke(folder.path, "keys", "create");
  const backup = await convoke(folder.path, "backup", "--to", copy, "--json");
  expect(JSON.parse(backup.stdout)).toEqual({
    folder: copy,
    files: expect.any(Number) as number,
    left_out: [],
  });
  const again = await convoke(folder.path, "backup", "--to", copy);
  expect(again).toMatchObject({ code: 2, stderr: expect.stringMatching(/is not empty/) as string });
  const whole = await convoke(folder.path, "doctor", "--check-data", "--data-dir", copy);
  expect(whole).toMatchObject({ code: 0, stdout: "No damage found. 0 events were checked.\n" });
  await writeFile(join(copy, "application.sqlite"), "no database, ".repeat(2000));
  const damaged = await convoke(folder.path, "doctor", "--check-data", "--data-dir", copy, "--json");
  expect(damaged.code).toBe(1);
  expect(JSON.parse(damaged.stdout)).toMatchObject({ damages: [{ file: "application.sqlite" }] });
});

test("convoke restore brings a backup back into a new folder, and says what to start", async () => {
  await using folder = await openTemporaryDirectory();
  const [copy, restored] = ["copy", "restored"].map((name) => join(folder.path, name)) as [string, string];
  await convoke(folder.path, "keys", "create", "--label", "laptop");
  await convoke(folder.path, "backup", "--to", copy);
  const done = await convoke(folder.path, "restore", "--from", copy, "--to", restored);
  expect(done.stdout).toMatch(
    /^\d+ files were restored to .*restored\. Start a server on them: convoke serve --data-dir /,
  );
  expect(done).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/ {2}checking application\.sqlite/) as string,
  });
  const listed = await convoke(folder.path, "keys", "list", "--data-dir", restored);
  expect(listed.stdout).toContain("laptop");
  const again = await convoke(folder.path, "restore", "--from", copy, "--to", restored, "--json");
  expect(again).toMatchObject({ code: 2, stderr: expect.stringMatching(/restored is not empty/) as string });
});

test("F5: doctor --check-data does not call a database damaged that another process keeps locked", async () => {
  await using folder = await openTemporaryDirectory();
  await convoke(folder.path, "keys", "create");
  using held = new DatabaseSync(join(folder.path, ".convoke/sandboxes.sqlite"));
  held.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE t (a)");
  const checked = await convoke(folder.path, "doctor", "--check-data");
  expect(checked).toMatchObject({ code: 1, stdout: "" });
  expect(checked.stderr).toContain("sandboxes.sqlite is locked by another process");
});
