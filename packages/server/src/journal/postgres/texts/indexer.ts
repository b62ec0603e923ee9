import { crc32 } from "node:zlib";
import type { Pool } from "pg";
import { searchTextOf } from "../../search-text.ts";
import { addGrams, sample } from "../../text-grams.ts";
import { foldText } from "../../text-terms.ts";
import { integers } from "../arrays.ts";

/** An event with texts, as a block keeps it. */
export type SaidEvent = {
  readonly id: string;
  readonly at: number;
  readonly kind: string;
  readonly source: string;
  readonly toolName: string | null;
  readonly texts: readonly string[];
};

const blockEvents = 64;
const blockCharacters = 16_000;
/** Microseconds from the first event of a block to the last: what was before an instant is in no block that ends much later. */
const blockSpanMicros = 3_600_000_000;
const eventsPerRound = 256;
/** Commits gather for so long; a search reads at once. */
const gatherMs = 2000;

/**
 * Reads the texts of all events into blocks, with the grams of what is in them, some time after the commits. Everything in it is made of
 * the log and can be made again; of two processes that read the same log one is undone by the other.
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
  async look(): Promise<{ readonly waiting: number; readonly conversations: number }> {
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

  /** False when nothing is left to read. The last block is begun again while there is room in it. */
  async #readRound(log: number): Promise<boolean> {
    const { rows } = await this.#pool.query<StateRow>(stateSql, [log, blockEvents, blockCharacters / 2]);
    const state = rows[0];
    if (state === undefined || state.read_seq >= state.last_seq) return false;
    const from = state.open_seq ?? state.read_seq + 1;
    const { rows: events } = await this.#pool.query<EventRow>(
      "SELECT seq, id, at, json FROM convoke.events WHERE log = $1 AND seq BETWEEN $2 AND $3 ORDER BY seq",
      [log, from, Math.min(state.last_seq, from + eventsPerRound - 1)],
    );
    const readSeq = events.at(-1)?.seq ?? state.last_seq;
    const blocks = toBlocks(events);
    const { rowCount } = await this.#pool.query(storeSql(blocks.length), [
      log,
      state.read_seq,
      readSeq,
      ...blocks.flatMap((block) => toValues(log, state.owner_id, block)),
    ]);
    return rowCount !== null && readSeq > state.read_seq;
  }
}

/** What the grams of every block have that has all terms in it; the scope is an owner, or one log of theirs. */
export function gramsOfTerms(
  scope: { readonly ownerId: string; readonly log: number | null },
  terms: readonly string[],
): Buffer {
  const grams = new Set<number>();
  for (const term of terms) if (term.length > 1) addGrams(grams, term, Math.min(3, term.length));
  return integers([
    scope.log === null ? ownerGram(scope.ownerId) : logGram(scope.log),
    ...sample([...grams], maxGrams),
  ]);
}

/** Each one costs a search as much as all others do. */
const maxGrams = 12;

/** Below zero, where no gram of a text is. */
function ownerGram(ownerId: string): number {
  return -1 - (crc32(ownerId) % 2 ** 30) * 2;
}

function logGram(log: number): number {
  return -2 - (log % 2 ** 30) * 2;
}

type StateRow = {
  readonly owner_id: string;
  readonly last_seq: number;
  readonly read_seq: number;
  readonly open_seq: number | null;
};
type EventRow = { readonly seq: number; readonly id: string; readonly at: number; readonly json: string };
type Block = { readonly first: number; readonly last: number; readonly said: SaidEvent[] };

const unreadSql = `
  SELECT unread.number, total.conversations FROM (SELECT count(*) AS conversations FROM convoke.heads) total LEFT JOIN (
    SELECT h.number FROM convoke.heads h LEFT JOIN convoke.said_logs l ON l.log = h.number
    WHERE h.last_seq > coalesce(l.read_seq, 0)
  ) unread ON TRUE`;

/** open_seq: where the last block begins, when there is room in it. */
const stateSql = `
  SELECT c.owner_id, h.last_seq, coalesce(l.read_seq, 0) AS read_seq, (
    SELECT CASE WHEN b.last_seq - b.first_seq < $2::integer AND length(b.entries) < $3::integer
      AND l.read_seq - b.first_seq < ${eventsPerRound / 2} THEN b.first_seq END
    FROM convoke.said b WHERE b.log = $1 ORDER BY b.first_seq DESC LIMIT 1
  ) AS open_seq
  FROM convoke.heads h JOIN convoke.conversations c USING (number) LEFT JOIN convoke.said_logs l ON l.log = h.number
  WHERE h.number = $1`;

/** Parameters: log, how far it was read before, how far now, and for each block its six values. */
function storeSql(count: number): string {
  const moved = `
    INSERT INTO convoke.said_logs (log, read_seq) VALUES ($1, $3::integer)
    ON CONFLICT (log) DO UPDATE SET read_seq = excluded.read_seq WHERE said_logs.read_seq = $2::integer RETURNING log`;
  if (count === 0) return moved;
  const types = ["integer", "integer", "bigint", "bigint", "text", "integer[]"];
  const rows = Array.from(
    { length: count },
    (_, row) => `(${types.map((type, column) => `$${4 + row * types.length + column}::${type}`).join(", ")})`,
  );
  return `
    WITH moved AS (${moved})
    INSERT INTO convoke.said (log, first_seq, last_seq, first_at, last_at, entries, grams)
    SELECT moved.log, b.* FROM moved, (VALUES ${rows.join(", ")}) AS b(first_seq, last_seq, first_at, last_at, entries, grams)
    ON CONFLICT (log, first_seq) DO UPDATE SET last_seq = excluded.last_seq, first_at = excluded.first_at,
      last_at = excluded.last_at, entries = excluded.entries, grams = excluded.grams`;
}

function toBlocks(events: readonly EventRow[]): Block[] {
  const blocks: Block[] = [];
  let characters = 0;
  for (const { seq, id, at, json } of events) {
    const text = searchTextOf(json);
    if (text === null || text.texts.length === 0) continue;
    const { kind, source, toolName, texts } = text;
    const said: SaidEvent = { id, at, kind, source, toolName, texts };
    const open = blocks.at(-1);
    const first = open?.said[0];
    const fits =
      open !== undefined &&
      first !== undefined &&
      seq - open.first < blockEvents &&
      characters < blockCharacters &&
      at - first.at < blockSpanMicros;
    if (!fits) characters = 0;
    for (const one of texts) characters += one.length;
    if (fits) blocks[blocks.length - 1] = { first: open.first, last: seq, said: [...open.said, said] };
    else blocks.push({ first: seq, last: seq, said: [said] });
  }
  return blocks;
}

function toValues(log: number, ownerId: string, { first, last, said }: Block): (number | string | Buffer)[] {
  const grams = new Set([ownerGram(ownerId), logGram(log)]);
  for (const { texts } of said) {
    for (const text of texts) for (const size of [2, 3]) addGrams(grams, foldText(text), size);
  }
  const times = said.map(({ at }) => at);
  return [first, last, times[0]!, times.at(-1)!, JSON.stringify(said), integers([...grams])];
}
