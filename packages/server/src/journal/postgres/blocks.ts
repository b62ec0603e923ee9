import type { Pool } from "pg";
import { addGrams, addPhrases, sample } from "../text-grams.ts";
import {
  blockCharacterLimit,
  blockMessageLimit,
  maxGramsPerQuery,
  maxPhrasesPerQuery,
} from "../sqlite/body.ts";
import { integers } from "./arrays.ts";

/** How many blocks are written together; a log that was filled by others is made up for in rounds. */
const blocksPerRound = 16;

/**
 * Groups messages of a log into blocks and writes the grams of their texts, after the commits: an append never waits for it.
 * What no block has yet is looked through by the search. A gram that lies costs time and never gives a wrong answer.
 */
export class BlockIndexer implements AsyncDisposable {
  readonly #pool: Pool;
  readonly #onFailure: (error: unknown) => void;
  /** Messages of a log that came since the last look at it. */
  readonly #waiting = new Map<number, number>();
  readonly #due = new Set<number>();
  #running: Promise<void> | null = null;
  #isClosed = false;

  constructor(pool: Pool, onFailure: (error: unknown) => void) {
    this.#pool = pool;
    this.#onFailure = onFailure;
  }

  /** Counts the messages of a commit. */
  onTexts(log: number, count: number): void {
    const waiting = (this.#waiting.get(log) ?? blockMessageLimit) + count;
    if (this.#waiting.size >= waitingLimit) this.#waiting.clear();
    this.#waiting.set(log, waiting);
    if (waiting >= blockMessageLimit && count > 0) this.#start(log);
  }

  /** Waits for what is being written; may be called more than once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  #start(log: number): void {
    this.#due.add(log);
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    for (const log of this.#due) {
      this.#due.delete(log);
      if (this.#isClosed) break;
      try {
        this.#waiting.set(log, await this.#closeBlocks(log));
      } catch (error) {
        this.#onFailure(error);
        // The search looks through what has no block; the log's next message tries again.
        this.#waiting.delete(log);
      }
    }
    this.#running = null;
    if (this.#due.size > 0 && !this.#isClosed) this.#running = this.#run();
  }

  /** Answers how many messages are left, too few for a block. */
  async #closeBlocks(log: number): Promise<number> {
    for (;;) {
      const { rows } = await this.#pool.query<Message>(messagesSql, [
        log,
        blocksPerRound * blockMessageLimit,
      ]);
      const blocks = toBlocks(rows);
      if (blocks.length > 0) await this.#pool.query(insertSql(blocks.length), toValues(log, blocks));
      if (rows.length < blocksPerRound * blockMessageLimit) {
        return rows.length - blocks.reduce((total, messages) => total + messages.length, 0);
      }
      if (this.#isClosed) return 0;
    }
  }
}

/** What the grams of every block of the log have that holds the needle; both are folded and comparable. */
export function gramsOfNeedle(log: number, needle: string): Buffer {
  const phrases = new Set<number>();
  // Whether a word begins with the needle depends on the text before it.
  addPhrases(phrases, needle, 1);
  const grams = new Set<number>();
  addGrams(grams, needle, Math.min(3, needle.length));
  return integers([
    logGram(log),
    ...sample([...phrases], maxPhrasesPerQuery),
    ...sample([...grams], maxGramsPerQuery),
  ]);
}

/** Below zero, where no gram of a text is: so the index finds blocks of few logs only. */
function logGram(log: number): number {
  return -1 - (log % 2 ** 31);
}

type Message = { readonly seq: number; readonly folded: string };

const waitingLimit = 10_000;

const messagesSql = `
  SELECT seq, folded FROM convoke.texts
  WHERE log = $1 AND seq > coalesce((SELECT last_seq FROM convoke.blocks WHERE log = $1 ORDER BY first_seq DESC LIMIT 1), 0)
  ORDER BY seq LIMIT $2`;

/** Two processes that write the same blocks find the same messages: one of them stands. */
function insertSql(count: number): string {
  const rows = Array.from(
    { length: count },
    (_, index) => `($1, $${index * 3 + 2}, $${index * 3 + 3}, $${index * 3 + 4}::integer[])`,
  );
  return `INSERT INTO convoke.blocks (log, first_seq, last_seq, grams) VALUES ${rows.join(", ")} ON CONFLICT DO NOTHING`;
}

/** Whole blocks only. */
function toBlocks(messages: readonly Message[]): Message[][] {
  const blocks: Message[][] = [];
  let block: Message[] = [];
  let characters = 0;
  for (const message of messages) {
    block.push(message);
    characters += message.folded.length;
    if (block.length < blockMessageLimit && characters < blockCharacterLimit) continue;
    blocks.push(block);
    block = [];
    characters = 0;
  }
  return blocks;
}

function toValues(log: number, blocks: readonly Message[][]): (number | Buffer)[] {
  return [
    log,
    ...blocks.flatMap((messages) => {
      const grams = new Set<number>([logGram(log)]);
      for (const { folded } of messages) {
        for (const size of [1, 2, 3]) addGrams(grams, folded, size);
        addPhrases(grams, folded, 0);
      }
      return [messages[0]!.seq, messages.at(-1)!.seq, integers([...grams])];
    }),
  ];
}
