import { withoutUndefined } from "../lib/without-undefined.ts";
import type { Selectable, Updateable } from "kysely";
import type { ApplicationDatabase } from "../database/application-database.ts";
import { changeRows, removeRows, rowsWith } from "../database/rows.ts";
import type { Tables } from "../database/tables.ts";
import type { SandboxChange, SandboxRow, SandboxStore } from "./sandbox-store.ts";
import { fromStored, nobody, textOfRecord, toStored } from "./sandbox-store.ts";

/** A sandbox with the machine that it runs on. */
export type PlacedSandbox = { readonly row: SandboxRow; readonly machine: string };

/** The sandboxes of all machines on one database. */
export class SharedSandboxes {
  readonly #database: ApplicationDatabase;

  constructor(database: ApplicationDatabase) {
    this.#database = database;
  }

  /** The sandboxes of one machine, for the server that manages them; its claim ends with the store. */
  ofMachine(machine: string, serving: AsyncDisposable | null = null): SandboxStore {
    return new MachineSandboxStore(this.#database, machine, serving);
  }

  /** In any order, without those that are not there. */
  async find(ids: readonly string[]): Promise<readonly PlacedSandbox[]> {
    if (ids.length === 0) return [];
    return (await rowsWith(this.#database.tables, "sandboxes", { id: ids }).execute()).map(toPlaced);
  }

  /** Newest first. */
  async listOf(ownerId: string): Promise<readonly PlacedSandbox[]> {
    const query = rowsWith(this.#database.tables, "sandboxes", { owner_id: ownerId });
    const rows = await query.orderBy("created_at", "desc").orderBy("id", "desc").execute();
    return rows.map(toPlaced);
  }

  /** Its machine ends it as soon as a server of it finds this. */
  async wishDeleted(id: string): Promise<void> {
    await changeRows(this.#database.tables, "sandboxes", { id }, { wish: "deleted" });
  }

  /** Forgets one that nobody was given: the id is free, and its machine removes what there is. */
  async dropUngiven(id: string): Promise<void> {
    await removeRows(this.#database.tables, "sandboxes", { id, owner_id: nobody });
  }
}

class MachineSandboxStore implements SandboxStore {
  readonly #database: ApplicationDatabase;
  readonly #machine: string;
  readonly #serving: AsyncDisposable | null;

  constructor(database: ApplicationDatabase, machine: string, serving: AsyncDisposable | null) {
    this.#database = database;
    this.#machine = machine;
    this.#serving = serving;
  }

  async insert(row: SandboxRow): Promise<void> {
    const stored = { ...toStored(row), machine: this.#machine, created_at: row.createdAtMs };
    await this.#database.tables.insertInto("sandboxes").values(stored).execute();
  }

  /** Changes what is named and nothing else: another server may have written a wish meanwhile. */
  async update(id: string, change: SandboxChange): Promise<void> {
    const stored: Updateable<Tables["sandboxes"]> = withoutUndefined({
      status: change.status,
      status_detail: change.statusDetail,
      wish: change.wish,
      record: change.record === undefined ? undefined : textOfRecord(change.record),
      sealed_key: change.sealedKey,
      owner_id: change.ownerId === undefined ? undefined : (change.ownerId ?? nobody),
      created_at: change.createdAtMs,
    });
    if (Object.keys(stored).length === 0) return;
    await changeRows(this.#database.tables, "sandboxes", { id, machine: this.#machine }, stored);
  }

  async remove(id: string): Promise<void> {
    await removeRows(this.#database.tables, "sandboxes", { id, machine: this.#machine });
  }

  async get(id: string): Promise<SandboxRow | null> {
    const stored = await this.#own().where("id", "=", id).executeTakeFirst();
    return stored === undefined ? null : toPlaced(stored).row;
  }

  async list(): Promise<readonly SandboxRow[]> {
    const rows = await this.#own().orderBy("created_at", "desc").orderBy("id", "desc").execute();
    return rows.map((stored) => toPlaced(stored).row);
  }

  /** The database is its opener's. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#serving?.[Symbol.asyncDispose]();
  }

  #own() {
    return rowsWith(this.#database.tables, "sandboxes", { machine: this.#machine });
  }
}

function toPlaced(stored: Selectable<Tables["sandboxes"]>): PlacedSandbox {
  return { row: fromStored(stored, stored.created_at), machine: stored.machine };
}
