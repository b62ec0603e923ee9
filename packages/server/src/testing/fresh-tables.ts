import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openApplicationDatabase } from "../database/sqlite-application-database.ts";

/**
 * Puts the tables of a first start into a data folder that does not exist yet. All migrations take a third of the processor time of a
 * server's start, and hundreds of tests start one; the migrations have tests of their own.
 */
export async function placeFreshTables(dataDir: string): Promise<void> {
  if (existsSync(dataDir)) return;
  const tables = await (made ??= makeTables());
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFile(join(dataDir, name), tables, { mode: 0o600 });
}

const name = "application.sqlite";
/** Never changed, so the files of one process can share it. */
let made: Promise<Buffer> | null = null;

async function makeTables(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "convoke-tables-"));
  try {
    const database = await openApplicationDatabase(folder);
    // Its log is copied back when it closes.
    await database[Symbol.asyncDispose]();
    return await readFile(join(folder, name));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
