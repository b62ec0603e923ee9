import { userOfOwner } from "../../../lib/trash-owner.ts";
import { crc32 } from "node:zlib";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Pool } from "pg";
import { searchTextOf, type SearchText } from "../../search-text.ts";
import { noMessage, toBlocks } from "../../text-blocks.ts";
import { gramsOfBlock } from "../../text-grams.ts";
import { integers } from "../arrays.ts";
import type { OneRow } from "../event-reader.ts";

/** An event with texts, as a block keeps it. */
export type TextEvent = SearchText & { readonly id: string; readonly at: number };

const eventsPerRound = 256;
/** A last block that begins further back is not begun again. */
const eventsAgain = 128;
/** Commits gather for so long; a search reads at once. */
const gatherMs = 2000;

/**
 * Reads the texts of all events into blocks, with the grams of what is in them, some time after the commits. Everything in it is made of
 * the log and can be made again; of two processes that read the same log one is undone by the other. A gram that lies costs time and never
 * gives a wrong answer.
 */
export class TextIndexer implements AsyncDisposable {
  readonly #pool: Pool;
  readonly #onFailure: (error: unknown) => void;
  readonly #due = new Set<number>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | null = null;
  #isClosed = false;

  constructor(pool: Pool, onFailure: (error: unknown) => void) {
    this.#pool = pool;
    this.#onFailure = onFailure;
  }

  /** The log has grown. */
  note(log: number): void {
    if (this.#isClosed) return;
    this.#due.add(log);
    this.#timer ??= setTimeout(() => this.#start(), gatherMs).unref();
  }

  /** Begins to read what nobody has read yet, and answers how much that is. */
  async poll(): Promise<{ readonly waiting: number; readonly conversations: number }> {
    const { rows } = await this.#pool.query<{ number: number | null; conversations: number }>(unreadSql);
    const waiting = rows.flatMap(({ number }) => (number === null ? [] : [number]));
    for (const log of waiting) this.#due.add(log);
    if (waiting.length > 0) this.#start();
    return { waiting: waiting.length, conversations: rows[0]?.conversations ?? 0 };
  }

  /** Waits for what is being written; may be called more than once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  async #run(): Promise<void> {
    for (const log of this.#due) {
      if (this.#isClosed) return;
      this.#due.delete(log);
      try {
        while (!this.#isClosed && (await this.#readRound(log)));
      } catch (error) {
        // The next search reads what is missing.
        this.#onFailure(error);
      }
    }
  }

  /** False when nothing is left to read. The last block of each class is begun again while there is room in it. */
  async #readRound(log: number): Promise<boolean> {
    const { rows: states } = await this.#pool.query<StateRow>(stateSql, [log, eventsAgain]);
    const [state] = states;
    if (state === undefined || state.read_seq >= state.last_seq) return false;
    const openSeqs = new Map(states.map((row) => [row.class, row.open_seq] as const));
    const fromSeq = (code: number): number => openSeqs.get(code) ?? state.read_seq + 1;
    const first = Math.min(state.read_seq + 1, ...states.map((row) => row.open_seq ?? Infinity));
    const { rows: events } = await this.#pool.query<EventRow>(eventsSql, [
      log,
      first,
      Math.min(state.last_seq, first + eventsPerRound - 1),
    ]);
    const readSeq = events.at(-1)?.seq ?? state.last_seq;
    const entries = events.flatMap(toEntry).filter(({ seq, class: code }) => seq >= fromSeq(code));
    const blocks = [...Map.groupBy(entries, (entry) => entry.class).values()].flatMap(toBlocks);
    const values: (number | string | Buffer)[] = [];
    for (const block of blocks) {
      values.push(...toValues(log, state.owner_id, block));
      // Others have their turn after each block: the grams of one take a millisecond.
      await yieldToEventLoop();
    }
    const { rowCount } = await this.#pool.query(storeSql(blocks.length), [
      log,
      state.read_seq,
      readSeq,
      ...values,
    ]);
    return rowCount !== null && readSeq > state.read_seq;
  }
}

/** The gram of what all events of a block belong to: below zero, where no gram of a text is. */
export const scopeGrams = {
  owner: (ownerId: string): number => scopeGram(0, crc32(ownerId)),
  log: (log: number): number => scopeGram(1, log),
  messages: (log: number, code: number): number => scopeGram(2, log * classesApart + code),
};

function scopeGram(scope: 0 | 1 | 2, value: number): number {
  return -1 - scope - 3 * (value % scopeSize);
}

const scopeSize = 700_000_000;
const classesApart = 64;

type StateRow = {
  readonly owner_id: string;
  readonly last_seq: number;
  readonly read_seq: number;
  readonly class: number;
  readonly open_seq: number | null;
};
type EventRow = Omit<OneRow, "meta" | "checksum"> & { readonly folded: string | null };
type Entry = TextEvent & { readonly seq: number; readonly class: number; readonly body: string | null };

const unreadSql = `
  SELECT unread.number, total.conversations FROM (SELECT count(*) AS conversations FROM convoke.heads) total LEFT JOIN (
    SELECT h.number FROM convoke.heads h LEFT JOIN convoke.text_logs l ON l.log = h.number
    WHERE h.last_seq > coalesce(l.read_seq, 0)
  ) unread ON TRUE`;

/** A row for each class that blocks can be of; open_seq: where its last block begins, when it is near the end. */
const stateSql = `
  SELECT c.owner_id, h.last_seq, coalesce(l.read_seq, 0) AS read_seq, selected.code AS class, (
    SELECT CASE WHEN l.read_seq - b.first_seq < $2::integer THEN b.first_seq END
    FROM convoke.text_blocks b WHERE b.log = h.number AND b.class = selected.code ORDER BY b.first_seq DESC LIMIT 1
  ) AS open_seq
  FROM convoke.heads h JOIN convoke.conversations c USING (number) LEFT JOIN convoke.text_logs l ON l.log = h.number
    CROSS JOIN (SELECT ${noMessage}::smallint AS code UNION ALL SELECT code FROM convoke.classes WHERE has_text) selected
  WHERE h.number = $1`;

const eventsSql = `
  SELECT e.seq, e.id, e.at, e.class, e.json, t.folded FROM convoke.events e LEFT JOIN convoke.texts t USING (log, seq)
  WHERE e.log = $1 AND e.seq BETWEEN $2 AND $3 ORDER BY e.seq`;

/** Parameters: log, how far it was read before, how far now, and for each block its seven values. */
function storeSql(count: number): string {
  const moved = `
    INSERT INTO convoke.text_logs (log, read_seq) VALUES ($1, $3::integer)
    ON CONFLICT (log) DO UPDATE SET read_seq = excluded.read_seq WHERE text_logs.read_seq = $2::integer RETURNING log`;
  if (count === 0) return moved;
  const types = ["smallint", "integer", "integer", "bigint", "bigint", "text", "integer[]"];
  const rows = Array.from(
    { length: count },
    (_, row) => `(${types.map((type, column) => `$${4 + row * types.length + column}::${type}`).join(", ")})`,
  );
  const columns = "class, first_seq, last_seq, first_at, last_at, entries, grams";
  return `
    WITH moved AS (${moved})
    INSERT INTO convoke.text_blocks (log, ${columns})
    SELECT moved.log, b.* FROM moved, (VALUES ${rows.join(", ")}) AS b(${columns})
    ON CONFLICT (log, class, first_seq) DO UPDATE SET last_seq = excluded.last_seq, first_at = excluded.first_at,
      last_at = excluded.last_at, entries = excluded.entries, grams = excluded.grams`;
}

function toEntry({ seq, id, at, class: code, json, folded: body }: EventRow): Entry[] {
  const found = searchTextOf(json);
  if (found === null || (found.texts.length === 0 && body === null)) return [];
  return [{ seq, id, at, ...found, class: body === null ? noMessage : code, body }];
}

function toValues(log: number, ownerId: string, block: readonly Entry[]): (number | string | Buffer)[] {
  const [first, last] = [block[0]!, block.at(-1)!];
  const grams = gramsOfBlock(block)
    .add(scopeGrams.owner(userOfOwner(ownerId)))
    .add(scopeGrams.log(log));
  if (first.class !== noMessage) grams.add(scopeGrams.messages(log, first.class));
  const entries = block.map(({ id, at, kind, source, toolName, texts }) => ({
    id,
    at,
    kind,
    source,
    toolName,
    texts,
  }));
  return [
    first.class,
    first.seq,
    last.seq,
    first.at,
    last.at,
    JSON.stringify(entries satisfies TextEvent[]),
    integers([...grams]),
  ];
}
