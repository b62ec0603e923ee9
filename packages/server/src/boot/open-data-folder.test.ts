import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ConfigError } from "../lib/config-error.ts";
import { openStore } from "./open-store.ts";
import { openDataFolder } from "./open-data-folder.ts";

function makeFolder(mode: number, ...files: string[]) {
  const parent = mkdtempSync(join(tmpdir(), "data-folder-"));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const path = join(parent, "data");
  mkdirSync(path);
  for (const file of files) writeFileSync(join(path, file), "");
  chmodSync(path, mode);
  const warnings: unknown[] = [];
  const log = (): void => {};
  const logger = { info: log, error: log, warn: (fields: object) => void warnings.push(fields) };
  return { path, warnings, logger, mode: () => statSync(path).mode & 0o7777 };
}

test.each([
  [0o755, []],
  [0o755, ["lost+found"]],
  [0o777, ["journal.db", "something"]],
  [0o750, ["session-api-key"]],
])("16, P50: a data folder with mode %o is closed to others, and that is logged", async (mode, files) => {
  const folder = makeFolder(mode, ...files);
  await openDataFolder(folder.path, folder.logger);
  expect(folder.mode()).toBe(0o700);
  expect(folder.warnings).toEqual([{ dataDir: folder.path, mode: `0${mode.toString(8)}` }]);
});

test.each([
  [0o755, ["package.json"]],
  [0o1777, []],
])(
  "16, P50: another directory with mode %o is refused with its path and the way out, and stays",
  async (mode, files) => {
    const folder = makeFolder(mode, ...files);
    const opening = openDataFolder(folder.path, folder.logger);
    await expect(opening).rejects.toThrow(ConfigError);
    await expect(opening).rejects.toThrow(`chmod 700 ${folder.path}`);
    expect(folder.mode()).toBe(mode);
  },
);

test("16: a private folder, and one that is not there yet, need nothing", async () => {
  const folder = makeFolder(0o700, "package.json");
  await openDataFolder(folder.path, folder.logger);
  await openDataFolder(join(folder.path, "new"), folder.logger);
  expect(statSync(join(folder.path, "new")).mode & 0o777).toBe(0o700);
  expect(folder.warnings).toEqual([]);
});

test.each([
  ["nodes", "folder"],
  ["running", "folder"],
  ["master-key", "file"],
  ["journal.db", "file"],
  ["sandboxes.lock", "file"],
])("F6: %s that is no %s is named, with the way out", async (name, kind) => {
  const folder = makeFolder(0o700);
  if (kind === "file") mkdirSync(join(folder.path, name));
  else writeFileSync(join(folder.path, name), "");
  const refusal = `${join(folder.path, name)} is no ${kind}, and a ${kind} of the server has this name. Move it away`;
  await expect(openDataFolder(folder.path, folder.logger)).rejects.toThrow(refusal);
  await expect(
    openStore({ dataDir: folder.path, database: null, masterSecret: null, logger: folder.logger }),
  ).rejects.toThrow(ConfigError);
});
