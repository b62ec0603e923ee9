import { closeSync, openSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { syncFully } from "@convoke/tool-host/sync-fully";
import { enterWalMode, isBusy, lockFile } from "../database/sqlite-file.ts";
import { inFile } from "../lib/storage-fault.ts";
import type { SandboxChange, SandboxRow, SandboxStore } from "./sandbox-store.ts";
import { fromStored, toStored, type StoredSandbox } from "./sandbox-store.ts";

/** Where a data folder keeps its sandboxes. */
export function sandboxesFile(dataDir: string): string {
  return join(dataDir, "sandboxes.sqlite");
}

/** Another process has the store open. */
export class SandboxesHeldError extends Error {
  override readonly name = "SandboxesHeldError";
}

/**
 * Sandboxes in an SQLite file of their own, or in memory with `:memory:`. One process at a time has the store: two that manage the
 * same sandboxes would undo each other's work. A lock beside the file says so, and not one on it: whoever backs it up or checks it only
 * reads, and may do that meanwhile. Throws {@link SandboxesHeldError} when it is another one.
 */
export function openSqliteSandboxStore(file: string): SandboxStore {
  if (file === ":memory:") return new SqliteSandboxStore(openTables(file), null);
  const lock = lockAlone(file);
  try {
    closeSync(openSync(file, "a", 0o600));
    const database = openTables(file);
    moveHere(database, join(dirname(file), "sandboxes"));
    return new SqliteSandboxStore(database, lock);
  } catch (error) {
    lock.close();
    // A release before this one locks the file itself.
    throw isBusy(error) ? heldBy(file, error) : inFile(error, file);
  }
}

/**
 * A folder that was restored from a backup, or moved, has the sandboxes' files at another place than was written down. Their processes
 * belong to the place that was copied: what they are found by is forgotten, and they are started again here when they are used.
 */
function moveHere(database: DatabaseSync, sandboxesDir: string): void {
  const change = database.prepare("UPDATE sandboxes SET spec = ?, record = 'null' WHERE id = ?");
  for (const { id, spec } of database.prepare("SELECT * FROM sandboxes").all().map(toRow)) {
    const workspaceDir = join(sandboxesDir, id, "workspace");
    const isOwn = spec.workspaceDir.endsWith(join("/sandboxes", id, "workspace"));
    if (!isOwn || isSamePlace(spec.workspaceDir, workspaceDir)) continue;
    change.run(JSON.stringify({ ...spec, workspaceDir }), id);
  }
}

function isSamePlace(one: string, other: string): boolean {
  if (one === other) return true;
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    // One of them is not there.
    return false;
  }
}

/** The name of the lock, which is made again at every start. */
export const sandboxesLock = "sandboxes.lock";

/** It ends with the process, however that ends. */
function lockAlone(file: string): DatabaseSync {
  const path = join(dirname(file), sandboxesLock);
  closeSync(openSync(path, "a", 0o600));
  try {
    return lockFile(path, "alone");
  } catch (error) {
    throw isBusy(error) ? heldBy(file, error) : error;
  }
}

function heldBy(file: string, cause: unknown): SandboxesHeldError {
  return new SandboxesHeldError(`${file} is in use by another process.`, { cause });
}

function openTables(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: busyMs });
  try {
    enterWalMode(database, busyMs);
    syncFully(database);
    database.exec(`PRAGMA synchronous = FULL; BEGIN IMMEDIATE; ${table} COMMIT`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Opening a file that was not closed in order locks it for a moment. */
const busyMs = 2_000;

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
  readonly #lock: DatabaseSync | null;

  constructor(database: DatabaseSync, lock: DatabaseSync | null) {
    this.#database = database;
    this.#lock = lock;
  }

  async insert(row: SandboxRow): Promise<void> {
    const columns = toColumns(row);
    const names = Object.keys(columns);
    const values = names.map((name) => `:${name}`);
    this.#database.prepare(`INSERT INTO sandboxes (${names.join()}) VALUES (${values.join()})`).run(columns);
  }

  /** Reads and writes without a pause between: another change would be undone that was made meanwhile. */
  async update(id: string, change: SandboxChange): Promise<void> {
    const old = this.#read(id);
    if (old === null) return;
    const columns = toColumns({ ...old, ...change });
    const changes = Object.keys(columns).map((name) => `${name} = :${name}`);
    this.#database.prepare(`UPDATE sandboxes SET ${changes.join()} WHERE id = :id`).run(columns);
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
    if (this.#lock?.isOpen === true) this.#lock.close();
  }

  #read(id: string): SandboxRow | null {
    const stored = this.#database.prepare("SELECT * FROM sandboxes WHERE id = ?").get(id);
    return stored === undefined ? null : toRow(stored);
  }
}

function toColumns(row: SandboxRow): Record<string, string | number | null> {
  return { ...toStored(row), created_at_ms: row.createdAtMs };
}

function toRow(stored: Record<string, unknown>): SandboxRow {
  return fromStored(stored as StoredSandbox, stored["created_at_ms"] as number);
}
