import { randomUUID } from "node:crypto";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { BashOutput } from "@convoke/protocol";
import { openPrivateSqlite } from "../private-sqlite.ts";
import { WorkspaceError } from "../workspace/workspace.ts";
import type { BashEntry, BashPage, BashQuery } from "./bash.ts";

export type BashLogOptions = {
  /** Path of the SQLite file, created when absent, or `:memory:`. */
  readonly path: string;
  /** Maximum size of all events in bytes; the oldest commands are deleted first. */
  readonly capacityBytes: number;
  /** Maximum age of events in milliseconds; null keeps them for ever. */
  readonly ttlMs: number | null;
  readonly nowMs: () => number;
};

/** An event without its timestamp. */
export type BashDraft = { readonly id: string; readonly owner: string; readonly commandId: string } & (
  | { readonly kind: "BashCommand"; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly kind: "BashOutput"; readonly fields: BashChunk }
);
export type BashChunk = {
  readonly order: number;
  readonly exit_code: number | null;
  readonly stdout: string | null;
  readonly stderr: string | null;
};

/**
 * The record of commands and their outputs. Timestamps strictly increase. A written event survives the end of this process, but
 * maybe not a power cut: the reference does not promise that, and no decision depends on an output.
 */
export class BashLog implements Disposable {
  readonly #database: DatabaseSync;
  readonly #options: BashLogOptions;
  readonly #insert: StatementSync;
  readonly #newest: StatementSync;
  #bytes: number;

  constructor(options: BashLogOptions) {
    this.#options = options;
    this.#database = openPrivateSqlite(options.path);
    try {
      this.#database.exec(schema + dropEnded);
      this.#insert = this.#database.prepare(
        `INSERT INTO events (id, owner, command_id, kind, micros, position, is_end, byte_count, json)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      );
      this.#newest = this.#database.prepare("SELECT seq, micros FROM events ORDER BY seq DESC LIMIT 1");
      this.#bytes = this.#count("SELECT coalesce(sum(byte_count), 0) AS count FROM events");
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Records an event and returns its JSON. `runner` also records which process is about to run the command. */
  append(draft: BashDraft, runner?: string): string {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const last = Number(this.#newest.get()?.["micros"] ?? 0);
      const micros = Math.max(this.#options.nowMs() * 1_000, last + 1);
      const json = toJson(draft, micros);
      const { kind, fields } = draft;
      const order = kind === "BashOutput" ? fields.order : null;
      const isEnd = kind === "BashOutput" && fields.exit_code !== null ? 1 : 0;
      const { id, owner, commandId } = draft;
      const byteCount = Buffer.byteLength(json);
      this.#insert.run(id, owner, commandId, kind, micros, order, isEnd, byteCount, json);
      if (runner !== undefined) this.#markRunning(commandId, owner, runner);
      if (isEnd === 1) this.#markEnded(commandId);
      this.#database.exec("COMMIT");
      this.#bytes += byteCount;
      return json;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  /** The event of the command itself; undefined for an unknown command. */
  findCommand(owner: string, commandId: string): string | undefined {
    const row = this.#database
      .prepare("SELECT json FROM events WHERE command_id = ? AND owner = ? AND kind = 'BashCommand'")
      .get(commandId, owner);
    return row === undefined ? undefined : String(row["json"]);
  }

  /** All outputs of an ended command in order; undefined while it runs and for an unknown command. */
  outputsOfEnded(owner: string, commandId: string): BashOutput[] | undefined {
    const rows = this.#database
      .prepare(
        "SELECT json, is_end FROM events WHERE command_id = ? AND owner = ? AND kind = 'BashOutput' ORDER BY seq",
      )
      .all(commandId, owner);
    if (!rows.some((row) => row["is_end"] === 1)) return undefined;
    return rows.map((row) => JSON.parse(String(row["json"])) as BashOutput);
  }

  search(query: BashQuery): BashPage {
    const { conditions, values } = toConditions(query);
    const direction = query.isDescending ? "DESC" : "ASC";
    if (query.pageId !== undefined) {
      const first = this.#database
        .prepare("SELECT seq FROM events WHERE id = ? AND owner = ?")
        .get(query.pageId, query.owner);
      if (first === undefined) {
        throw new WorkspaceError("unknown-page", `There is no page "${query.pageId}".`);
      }
      conditions.push(query.isDescending ? "seq <= ?" : "seq >= ?");
      values.push(Number(first["seq"]));
    }
    const rows = this.#database
      .prepare(
        `SELECT id, json FROM events WHERE ${conditions.join(" AND ")} ORDER BY seq ${direction} LIMIT ?`,
      )
      .all(...values, query.limit + 1);
    const next = rows[query.limit];
    return {
      items: rows.slice(0, query.limit).map((row) => String(row["json"])),
      nextPageId: next === undefined ? null : String(next["id"]),
    };
  }

  get(owner: string, ids: readonly string[]): (string | null)[] {
    const find = this.#database.prepare("SELECT json FROM events WHERE id = ? AND owner = ?");
    return ids.map((id) => {
      const row = find.get(id, owner);
      return row === undefined ? null : String(row["json"]);
    });
  }

  /** Events after a cursor, at most `limit` of them and about `maxBytes`. */
  readAfter(owner: string, afterSeq: number, limit: number, maxBytes: number): BashEntry[] {
    const rows = this.#database
      .prepare("SELECT seq, id, json FROM events WHERE owner = ? AND seq > ? ORDER BY seq LIMIT ?")
      .iterate(owner, afterSeq, limit);
    const entries: BashEntry[] = [];
    let bytes = 0;
    for (const row of rows) {
      const entry = { seq: Number(row["seq"]), id: String(row["id"]), json: String(row["json"]) };
      entries.push(entry);
      bytes += entry.json.length;
      if (bytes >= maxBytes) break;
    }
    return entries;
  }

  lastSeq(): number {
    return Number(this.#newest.get()?.["seq"] ?? 0);
  }

  clear(owner: string): number {
    const { changes } = this.#database.prepare("DELETE FROM events WHERE owner = ?").run(owner);
    this.#bytes = this.#count("SELECT coalesce(sum(byte_count), 0) AS count FROM events");
    return Number(changes);
  }

  /** Commands that have no end event, with their owners. */
  findOpen(): { readonly id: string; readonly owner: string; readonly runner: string }[] {
    return this.#database
      .prepare("SELECT command_id, owner, runner FROM running")
      .all()
      .map((row) => ({
        id: String(row["command_id"]),
        owner: String(row["owner"]),
        runner: String(row["runner"]),
      }));
  }

  #markRunning(commandId: string, owner: string, runner: string): void {
    this.#database
      .prepare("INSERT OR REPLACE INTO running (command_id, owner, runner) VALUES (?, ?, ?)")
      .run(commandId, owner, runner);
  }

  #markEnded(commandId: string): void {
    this.#database.prepare("DELETE FROM running WHERE command_id = ?").run(commandId);
  }

  /** Deletes the commands that exceed the maximum age or size, each as a whole and never a running one. */
  forget(): void {
    const { ttlMs, capacityBytes, nowMs } = this.#options;
    const ended = "command_id NOT IN (SELECT command_id FROM running)";
    if (ttlMs !== null) {
      this.#database
        .prepare(
          `DELETE FROM events WHERE ${ended} AND command_id IN
           (SELECT command_id FROM events GROUP BY command_id HAVING max(micros) < ?)`,
        )
        .run((nowMs() - ttlMs) * 1_000);
    }
    if (this.#bytes > capacityBytes) {
      this.#database
        .prepare(
          `DELETE FROM events WHERE ${ended} AND command_id IN (SELECT command_id FROM (
             SELECT command_id, sum(sum(byte_count)) OVER (ORDER BY max(seq) DESC) AS bytes
             FROM events GROUP BY command_id) WHERE bytes > ?)`,
        )
        .run(capacityBytes);
    }
    this.#bytes = this.#count("SELECT coalesce(sum(byte_count), 0) AS count FROM events");
  }

  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #count(sql: string): number {
    return Number(this.#database.prepare(sql).get()?.["count"]);
  }
}

/** 32 hex digits, the form of ids in this log. */
export function createBashId(): string {
  return randomUUID().replaceAll("-", "");
}

/** `AUTOINCREMENT`: after everything was deleted, a follower's cursor must not meet the same number again. */
const schema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA journal_size_limit = 4194304;
  CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    command_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    micros INTEGER NOT NULL,
    position INTEGER,
    is_end INTEGER NOT NULL,
    byte_count INTEGER NOT NULL,
    json TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS events_of_owner ON events (owner, seq);
  CREATE INDEX IF NOT EXISTS events_of_command ON events (command_id, seq);
  CREATE TABLE IF NOT EXISTS running (
    command_id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    runner TEXT NOT NULL
  );
`;

/** Earlier versions wrote a command's end in two steps, and may have crashed in between. */
const dropEnded = `
  DELETE FROM running WHERE EXISTS
    (SELECT 1 FROM events WHERE events.command_id = running.command_id AND is_end = 1);
`;

function toJson(draft: BashDraft, micros: number): string {
  const { id, commandId, kind, fields } = draft;
  const named =
    kind === "BashOutput"
      ? { id, timestamp: toInstant(micros), command_id: commandId }
      : { id, timestamp: toInstant(micros) };
  return JSON.stringify({ ...named, ...fields, kind });
}

/** UTC with six digits, so that text order is time order. */
function toInstant(micros: number): string {
  const ms = Math.floor(micros / 1_000);
  const rest = String(micros - ms * 1_000).padStart(3, "0");
  return `${new Date(ms).toISOString().slice(0, -1)}${rest}Z`;
}

function toConditions(query: BashQuery): { conditions: string[]; values: SQLInputValue[] } {
  const { kind, commandId, fromMicros, beforeMicros, orderAbove } = query;
  const given: [condition: string, value: SQLInputValue | undefined][] = [
    ["owner = ?", query.owner],
    ["kind = ?", kind],
    ["command_id = ?", commandId],
    ["micros >= ?", fromMicros],
    ["micros < ?", beforeMicros],
    ["(position IS NULL OR position > ?)", orderAbove],
  ];
  const used = given.flatMap(([condition, value]) => (value === undefined ? [] : [{ condition, value }]));
  return { conditions: used.map(({ condition }) => condition), values: used.map(({ value }) => value) };
}
