import { existsSync } from "node:fs";
import { join } from "node:path";
import { addressFileOf } from "../../cluster/address-file.ts";
import { isBusy } from "../../database/sqlite-file.ts";
import { ConfigError } from "../../lib/config-error.ts";
import { readIfThere } from "../../lib/read-if-there.ts";
import { inFile } from "../../lib/storage-fault.ts";
import type { EventWithMeta } from "../journal.ts";
import type { LeaseHolder, StoreFacts, StoreInspector } from "../store-inspector.ts";
import { ConversationRows } from "./conversation-rows.ts";
import { seqsBetween } from "./event-reader.ts";
import { JournalFile } from "./journal-file.ts";
import { isNodeAlive, nodeStartedAtMs } from "./lease.ts";
import { LogReads } from "./log-reads.ts";
import { formatProblem, isStorageFault, maxSeq, positionOf } from "./schema.ts";
import { openTextsReader, textsFile } from "./texts/tables.ts";
import { TextIndexes } from "./texts/text-indexes.ts";

/** Opens the journal of a data folder for reading; it has no writer thread and no node. */
export function openSqliteInspector(dataDir: string): StoreInspector {
  const path = join(dataDir, "journal.db");
  if (!existsSync(path))
    throw new ConfigError(
      `There is no journal in the data folder ${dataDir}. Name another one with --data-dir.`,
    );
  const file = new JournalFile(path);
  try {
    file.read(() => checkFormat(file, path));
    return new SqliteInspector(dataDir, path, file);
  } catch (error) {
    file[Symbol.dispose]();
    throw inFile(error, path);
  }
}

function checkFormat({ database }: JournalFile, path: string): void {
  const format = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
  const problem = formatProblem(path, format);
  if (problem !== null) throw new ConfigError(problem);
}

class SqliteInspector implements StoreInspector {
  readonly #dataDir: string;
  readonly #path: string;
  readonly #file: JournalFile;
  readonly #logs: LogReads;
  readonly #rows: ConversationRows;

  constructor(dataDir: string, path: string, file: JournalFile) {
    this.#dataDir = dataDir;
    this.#path = path;
    this.#file = file;
    this.#logs = new LogReads(file, new TextIndexes(join(dataDir, textsFile), () => {}));
    this.#rows = new ConversationRows(file.database, (id) => this.#logs.lastSeq(id));
  }

  findIds: StoreInspector["findIds"] = async (beginning, limit) =>
    this.#listIds("SELECT id FROM conversations WHERE id >= ? AND id < ? ORDER BY id LIMIT ?", [
      beginning,
      // Behind all digits and the dash.
      `${beginning}g`,
      limit,
    ]).map(({ id }) => id);
  getConversation: StoreInspector["getConversation"] = async (id) =>
    this.#file.read(() => this.#rows.get(id));

  async facts(conversationId: string): Promise<StoreFacts | null> {
    const row = this.#file.read(() =>
      this.#file.database
        .prepare("SELECT number, generation, node_id FROM conversations WHERE id = ?")
        .get(conversationId),
    );
    if (row === undefined) return null;
    const log = Number(row["number"]);
    const nodeId = row["node_id"];
    return {
      log,
      generation: Number(row["generation"]),
      holder: typeof nodeId === "string" ? await this.#holder(nodeId) : null,
      machine: null,
      ...this.#sizes(log),
      indexedSeq: this.#indexedSeq(log, conversationId),
    };
  }

  read: StoreInspector["read"] = async (conversationId, afterSeq, limit) =>
    this.#logs.readAfter(conversationId, afterSeq, limit);
  readKinds: StoreInspector["readKinds"] = (...asked) => this.#logs.readKinds(...asked);

  async readEach(conversationId: string, fromSeq: number, toSeq: number): Promise<EventWithMeta[]> {
    const { events } = this.#logs;
    return this.#file.read(() =>
      events.snapshot(() => {
        const log = events.open(conversationId);
        return log === null ? [] : events.readEach(log, seqsBetween(fromSeq, Math.min(toSeq, log.lastSeq)));
      }),
    );
  }

  async listParts(conversationId: string): Promise<{ id: string; status: string }[]> {
    const sql = `SELECT id, execution_status AS status FROM conversations WHERE parent_id = ? ORDER BY number`;
    return this.#listIds(sql, [conversationId]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#file[Symbol.dispose]();
  }

  #listIds(sql: string, values: readonly (string | number)[]): { id: string; status: string }[] {
    const rows = this.#file.read(() => this.#file.database.prepare(sql).all(...values));
    return rows.map(({ id, status }) => ({ id: String(id), status: String(status) }));
  }

  async #holder(nodeId: string): Promise<LeaseHolder> {
    const folder = join(this.#dataDir, "nodes");
    const found = await readIfThere(addressFileOf(this.#dataDir, nodeId));
    return {
      nodeId,
      isAlive: isNodeAlive(folder, nodeId),
      startedAtMs: nodeStartedAtMs(folder, nodeId),
      // The file has a secret too.
      address: found === null ? null : (JSON.parse(found) as { readonly url: string }).url,
      release: null,
    };
  }

  /** The lengths stand in front of the texts, which are not read. */
  #sizes(log: number): Pick<StoreFacts, "eventBytes" | "besideBytes"> {
    const [from, to] = [positionOf(log, 1), positionOf(log, maxSeq)];
    const sql = (table: string): string =>
      `SELECT sum(octet_length(json)) AS events, sum(octet_length(meta)) AS beside FROM ${table}
       WHERE position BETWEEN ? AND ?`;
    try {
      const rows = ["events", "recent"].map((table) => this.#file.database.prepare(sql(table)).get(from, to));
      const sum = (name: string): number => rows.reduce((total, row) => total + Number(row?.[name] ?? 0), 0);
      return { eventBytes: sum("events"), besideBytes: sum("beside") };
    } catch (error) {
      if (!isStorageFault(error) || isBusy(error)) throw inFile(error, this.#path);
      // Which events it is about is found by reading each.
      return { eventBytes: null, besideBytes: null };
    }
  }

  #indexedSeq(log: number, conversationId: string): number | null {
    try {
      using texts = openTextsReader(join(this.#dataDir, textsFile));
      if (texts === null) return null;
      const row = texts
        .prepare("SELECT read_seq FROM logs WHERE number = ? AND conversation_id = ?")
        .get(log, conversationId);
      return Number(row?.["read_seq"] ?? 0);
    } catch (error) {
      if (!isStorageFault(error)) throw error;
      // It can be made again, and nothing else depends on it.
      return null;
    }
  }
}
