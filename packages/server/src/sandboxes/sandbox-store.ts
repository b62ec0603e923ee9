import type { SandboxRecord, SandboxSpec } from "./sandbox.ts";
import type { Selectable } from "kysely";
import type { Tables } from "../database/tables.ts";

/** `MISSING`: nothing is left of it but this row; it can be started again. */
export type SandboxStatus = "STARTING" | "RUNNING" | "PAUSED" | "ERROR" | "MISSING";

/** What its owner asked for last; a restarted server carries it on. */
export type SandboxWish = "running" | "paused" | "deleted";

/** One stored sandbox. */
export type SandboxRow = {
  readonly id: string;
  /** Null while it is in the warm pool. */
  readonly ownerId: string | null;
  /** Name of its backend. */
  readonly backend: string;
  readonly spec: SandboxSpec;
  readonly status: SandboxStatus;
  /** Why, for people: the phase of a start, the reason of an error. */
  readonly statusDetail: string | null;
  readonly wish: SandboxWish;
  /** Null until it was started once. */
  readonly record: SandboxRecord | null;
  /** What its keys are made from, sealed. */
  readonly sealedKey: string;
  readonly createdAtMs: number;
};

export type SandboxChange = Partial<
  Pick<SandboxRow, "status" | "statusDetail" | "wish" | "record" | "sealedKey" | "ownerId" | "createdAtMs">
>;

/** No user has this id. */
export const nobody = "";

/** The columns that both stores have. */
export type StoredSandbox = Omit<Selectable<Tables["sandboxes"]>, "machine" | "created_at">;

export function toStored(row: SandboxRow): StoredSandbox {
  return {
    id: row.id,
    owner_id: row.ownerId ?? nobody,
    backend: row.backend,
    spec: JSON.stringify(row.spec),
    status: row.status,
    status_detail: row.statusDetail,
    wish: row.wish,
    record: textOfRecord(row.record),
    sealed_key: row.sealedKey,
  };
}

export function textOfRecord(record: SandboxRecord | null): string | null {
  return record === null ? null : JSON.stringify(record);
}

/** Written by a server, so it is trusted. */
export function fromStored(stored: StoredSandbox, createdAtMs: number): SandboxRow {
  return {
    id: stored.id,
    ownerId: stored.owner_id === nobody ? null : stored.owner_id,
    backend: stored.backend,
    spec: JSON.parse(stored.spec) as SandboxSpec,
    status: stored.status as SandboxStatus,
    statusDetail: stored.status_detail,
    wish: stored.wish as SandboxWish,
    record: JSON.parse(stored.record ?? "null") as SandboxRecord | null,
    sealedKey: stored.sealed_key,
    createdAtMs,
  };
}

/** Where sandboxes are written down: durable when a promise resolves. */
export interface SandboxStore extends AsyncDisposable {
  /** Rejects when the id is taken. */
  insert(row: SandboxRow): Promise<void>;
  /** Does nothing when the row is gone. */
  update(id: string, change: SandboxChange): Promise<void>;
  remove(id: string): Promise<void>;
  get(id: string): Promise<SandboxRow | null>;
  /** Newest first. */
  list(): Promise<readonly SandboxRow[]>;
}
