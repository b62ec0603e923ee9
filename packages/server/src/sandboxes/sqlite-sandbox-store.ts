import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isBusy } from "../database/sqlite-file.ts";
import type { SandboxChange, SandboxRow, SandboxStore } from "./sandbox-store.ts";

/** Where a data folder keeps its sandboxes. */
export function sandboxesFile(dataDir: string): string {
  return join(dataDir, "sandboxes.sqlite");
}

/** Another process has the store open. */
export class SandboxesHeldError extends Error {
  override readonly name = "SandboxesHeldError";
}

/**
 * Sandboxes in an SQLite file of their own, or in memory with `:memory:`. One process at a time has the file: two that look
 * after the same sandboxes would undo each other's work. Throws {@link SandboxesHeldError} when it is another one.
 */
export function openSqliteSandboxStore(file: string): SandboxStore {
  if (file !== ":memory:") closeSync(openSync(file, "a", 0o600));
  const database = new DatabaseSync(file, { timeout: heldAfterMs });
  try {
    // The lock ends with the process, however that ends.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    database.exec(`BEGIN EXCLUSIVE; ${table} COMMIT`);
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    throw new SandboxesHeldError(`${file} is in use by another process.`, { cause: error });
  }
  return new SqliteSandboxStore(database);
}

/** No user has this id. */
const nobody = "";

/** Two that open a new file together wait for each other so long. */
const heldAfterMs = 200;

const table = `
  CREATE TABLE IF NOT EXISTS sandboxes (
    id TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL,
    backend TEXT NOT NULL,
    spec TEXT NOT NULL,
    status TEXT NOT NULL,
    status_detail TEXT,
    wish TEXT NOT NULL,
    record TEXT,
    sealed_key TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
  ) STRICT;
`;

class SqliteSandboxStore implements SandboxStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  async insert(row: SandboxRow): Promise<void> {
    this.#database
      .prepare("INSERT INTO sandboxes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .run(
        row.id,
        row.ownerId ?? nobody,
        row.backend,
        JSON.stringify(row.spec),
        row.status,
        row.statusDetail,
        row.wish,
        JSON.stringify(row.record),
        row.sealedKey,
        row.createdAtMs,
      );
  }

  /** Reads and writes without a pause between: another change would be undone that was made meanwhile. */
  async update(id: string, change: SandboxChange): Promise<void> {
    const old = this.#read(id);
    if (old === null) return;
    const row = { ...old, ...change };
    this.#database
      .prepare(
        `UPDATE sandboxes SET status = ?, status_detail = ?, wish = ?, record = ?, sealed_key = ?, owner_id = ?, created_at_ms = ?
         WHERE id = ?`,
      )
      .run(
        row.status,
        row.statusDetail,
        row.wish,
        JSON.stringify(row.record),
        row.sealedKey,
        row.ownerId ?? nobody,
        row.createdAtMs,
        id,
      );
  }

  async remove(id: string): Promise<void> {
    this.#database.prepare("DELETE FROM sandboxes WHERE id = ?").run(id);
  }

  async get(id: string): Promise<SandboxRow | null> {
    return this.#read(id);
  }

  async list(): Promise<readonly SandboxRow[]> {
    return this.#database
      .prepare("SELECT * FROM sandboxes ORDER BY created_at_ms DESC, id DESC")
      .all()
      .map(toRow);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#database.isOpen) this.#database.close();
  }

  #read(id: string): SandboxRow | null {
    const stored = this.#database.prepare("SELECT * FROM sandboxes WHERE id = ?").get(id);
    return stored === undefined ? null : toRow(stored);
  }
}

/** Written by this file only, so it is trusted. */
function toRow(stored: Record<string, unknown>): SandboxRow {
  return {
    id: stored["id"],
    ownerId: stored["owner_id"] === nobody ? null : stored["owner_id"],
    backend: stored["backend"],
    spec: JSON.parse(stored["spec"] as string),
    status: stored["status"],
    statusDetail: stored["status_detail"],
    wish: stored["wish"],
    record: JSON.parse(stored["record"] as string),
    sealedKey: stored["sealed_key"],
    createdAtMs: stored["created_at_ms"],
  } as SandboxRow;
}
