import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import { inFile } from "../lib/storage-fault.ts";
import { vacuumInto } from "./sqlite-file.ts";

/** The small databases of a data folder, those with migrations first. The journal and its texts only get additions. */
const copied = ["application", "sandboxes"];

export type UpgradeOf = {
  readonly dataDir: string;
  /** The version that is about to change tables. */
  readonly version: string;
  /** The migrations that the tables had when that was decided. */
  readonly done: readonly string[];
};

/**
 * Copies the small databases beside themselves before tables change: `application.before-0.2.0.sqlite`. Copies that earlier versions
 * made go, so that there is one. Where a copy cannot be made, nothing may be changed: throws.
 */
export function copyBeforeUpgrade({ dataDir, version, done }: UpgradeOf): void {
  const nameOf = (name: string): string => `${name}.before-${version}.sqlite`;
  for (const name of copied) {
    const file = join(dataDir, `${name}.sqlite`);
    const isStillOlder = (copy: DatabaseSync): boolean =>
      name !== "application" || isDeepStrictEqual(migrationsOf(copy), done);
    if (existsSync(file)) copyOne(file, join(dataDir, nameOf(name)), isStillOlder);
  }
  for (const found of readdirSync(dataDir))
    if (isCopyBeforeUpgrade(found) && !copied.map(nameOf).includes(found)) rmSync(join(dataDir, found));
}

function migrationsOf(database: DatabaseSync): readonly unknown[] {
  return database
    .prepare("SELECT name FROM kysely_migration ORDER BY name")
    .all()
    .map(({ name }) => name);
}

/** Names of the copies in a data folder. */
export function copiesBeforeUpgrade(dataDir: string): readonly string[] {
  return readdirSync(dataDir).filter(isCopyBeforeUpgrade).sort();
}

function isCopyBeforeUpgrade(name: string): boolean {
  return copied.some((database) => name.startsWith(`${database}.before-`) && name.endsWith(".sqlite"));
}

/** Another process may have changed the tables meanwhile; then it has made the copy. */
function copyOne(from: string, to: string, isStillOlder: (copy: DatabaseSync) => boolean): void {
  const unfinished = `${to}.${process.pid}-unfinished`;
  try {
    writeFileSync(unfinished, "", { mode: 0o600 });
    vacuumInto(from, unfinished);
    if (isCopyWanted(unfinished, isStillOlder)) renameSync(unfinished, to);
    else rmSync(unfinished);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw inFile(error, from);
  }
}

function isCopyWanted(file: string, isStillOlder: (copy: DatabaseSync) => boolean): boolean {
  using copy = new DatabaseSync(file, { readOnly: true });
  return isStillOlder(copy);
}
