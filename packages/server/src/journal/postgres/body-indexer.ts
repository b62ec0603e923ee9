import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Pool } from "pg";
import { addGrams, addPhrases, sample } from "../text-grams.ts";
import {
  blockCharacterLimit,
  blockMessageLimit,
  maxGramsPerQuery,
  maxPhrasesPerQuery,
} from "../text-blocks.ts";
import { integers } from "./arrays.ts";

/** So many messages of a class are read together; a log that was filled by others is made up for in rounds. */
const messagesPerRound = 16 * blockMessageLimit;
const blocksPerInsert = 16;

/**
 * Groups messages of a log, those of each class by themselves, into blocks and writes the grams of their texts, after the commits: an append never waits for it.
 * What no block has yet is looked through by the search. A gram that lies costs time and never gives a wrong answer.
 */
export class BodyIndexer implements AsyncDisposable {
  readonly #pool: Pool;
  readonly #onFailure: (error: unknown) => void;
  /** No class of a log has more messages that are in no block. */
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

  /** Answers how many messages the class has that has most of them left, too few for a block. */
  async #closeBlocks(log: number): Promise<number> {
    for (;;) {
      const { rows } = await this.#pool.query<Message>(messagesSql, [log, messagesPerRound]);
      const classes = [...Map.groupBy(rows, (message) => message.class).values()];
      const blocks = classes.flatMap(toBlocks);
      for (let first = 0; first < blocks.length; first += blocksPerInsert) {
        const some = blocks.slice(first, first + blocksPerInsert);
        await this.#pool.query(insertSql(some.length), await toValues(log, some));
      }
      if (classes.every((messages) => messages.length < messagesPerRound)) {
        return Math.max(0, ...classes.map((messages) => messages.length - inBlocks(toBlocks(messages))));
      }
      if (this.#isClosed) return 0;
    }
  }
}

/** What the grams of every block have that holds the needle, which is folded and comparable. */
export function gramsOfNeedle(needle: string): Buffer {
  const phrases = new Set<number>();
  // Whether a word begins with the needle depends on the text before it.
  addPhrases(phrases, needle, 1);
  const grams = new Set<number>();
  addGrams(grams, needle, Math.min(3, needle.length));
  return integers([...sample([...phrases], maxPhrasesPerQuery), ...sample([...grams], maxGramsPerQuery)]);
}

/** Below zero, where no gram of a text is: so the index finds blocks of few classes and logs only. */
export function classGram(log: number, code: number): number {
  return -1 - ((log * classesApart + code) % 2 ** 31);
}

const classesApart = 64;

type Message = { readonly class: number; readonly seq: number; readonly folded: string };

const waitingLimit = 10_000;

const messagesSql = `
  SELECT class, seq, folded FROM convoke.texts_behind($1, ARRAY(SELECT code FROM convoke.classes WHERE has_text), $2)
  ORDER BY class, seq`;

/** Two processes that write the same blocks find the same messages: one of them stands. */
function insertSql(count: number): string {
  const types = ["smallint", "integer", "integer", "integer[]"];
  const rows = Array.from(
    { length: count },
    (_, row) =>
      `($1, ${types.map((type, column) => `$${2 + row * types.length + column}::${type}`).join(", ")})`,
  );
  return `INSERT INTO convoke.class_blocks (log, class, first_seq, last_seq, grams) VALUES ${rows.join(", ")}
    ON CONFLICT DO NOTHING`;
}

function inBlocks(blocks: readonly Message[][]): number {
  return blocks.reduce((total, messages) => total + messages.length, 0);
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

/** Others have their turn after each block: the grams of one take a millisecond. */
async function toValues(log: number, blocks: readonly Message[][]): Promise<(number | Buffer)[]> {
  const values: (number | Buffer)[] = [log];
  for (const messages of blocks) {
    const { class: code, seq: first } = messages[0]!;
    const grams = new Set<number>([classGram(log, code)]);
    for (const { folded } of messages) {
      for (const size of [1, 2, 3]) addGrams(grams, folded, size);
      addPhrases(grams, folded, 0);
    }
    values.push(code, first, messages.at(-1)!.seq, integers([...grams]));
    await yieldToEventLoop();
  }
  return values;
}
