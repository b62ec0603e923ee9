import type { DatabaseSync, StatementSync } from "node:sqlite";
import {
  blockCharacterLimit,
  blockMessageLimit,
  foldText,
  readText,
  toBlockWords,
  type TextPlace,
} from "./sqlite-body.ts";
import { maxSeq, positionOf } from "./sqlite-schema.ts";

/** Closes blocks of the body index, after the commits that fill them: an append never waits for it. */
export class BodyIndexer {
  readonly #waiting = new Map<number, Waiting>();
  readonly #due = new Set<number>();
  readonly #lastBlock: StatementSync;
  readonly #messages: StatementSync;
  readonly #insertBlock: StatementSync;
  readonly #insertWords: StatementSync;

  constructor(database: DatabaseSync) {
    this.#lastBlock = database.prepare("SELECT max(last_seq) AS seq FROM body_blocks WHERE stream = ?");
    this.#messages = database.prepare(
      `SELECT position, json, text FROM events
       WHERE class = ? AND position BETWEEN ? AND ? ORDER BY position LIMIT ${blockMessageLimit}`,
    );
    this.#messages.setReturnArrays(true);
    this.#insertBlock = database.prepare(
      "INSERT INTO body_blocks (stream, first_seq, last_seq) VALUES (?, ?, ?) RETURNING id",
    );
    this.#insertWords = database.prepare("INSERT INTO body_index (rowid, grams) VALUES (?, ?)");
  }

  get isDue(): boolean {
    return this.#due.size > 0;
  }

  /** Counts a committed text. A stream met for the first time is looked at once, for what a former process left. */
  onText(stream: number, characters: number): void {
    const waiting = this.#waiting.get(stream);
    if (waiting === undefined) {
      this.#due.add(stream);
      return;
    }
    waiting.messages += 1;
    waiting.characters += characters;
    if (isFull(waiting)) this.#due.add(stream);
  }

  /** Closes at most a few blocks, inside the caller's transaction. */
  indexDue(): void {
    let budget = streamsPerSlice;
    for (const stream of this.#due) {
      // Removed first: after a fault the next text of the stream tries again, and until then the search scans.
      this.#due.delete(stream);
      this.#waiting.delete(stream);
      this.#closeBlock(stream);
      budget -= 1;
      if (budget === 0) return;
    }
  }

  #closeBlock(stream: number): void {
    const number = Math.floor(stream / 256);
    const base = positionOf(number, 0);
    const lastIndexed = Number(this.#lastBlock.get(stream)?.["seq"] ?? 0);
    const rows = this.#messages.all(
      stream % 256,
      base + lastIndexed + 1,
      base + maxSeq,
    ) as unknown as MessageRow[];
    const waiting: Waiting = { messages: 0, characters: 0 };
    const texts: string[] = [];
    for (const [position, json, place] of rows) {
      const text = readText(place, json) ?? "";
      texts.push(foldText(text));
      waiting.messages += 1;
      waiting.characters += text.length;
      if (!isFull(waiting)) continue;
      const first = (rows[0]?.[0] ?? position) - base;
      const block = this.#insertBlock.get(stream, first, position - base) as { id: number };
      this.#insertWords.run(block.id, toBlockWords(stream, texts));
      this.#due.add(stream);
      return;
    }
    if (this.#waiting.size >= waitingLimit) this.#waiting.clear();
    this.#waiting.set(stream, waiting);
  }
}

const streamsPerSlice = 8;

/** Streams beyond this many are forgotten, and counted again when they are next met. */
const waitingLimit = 10_000;

type Waiting = { messages: number; characters: number };
type MessageRow = [position: number, json: string, text: TextPlace];

function isFull(waiting: Waiting): boolean {
  return waiting.messages >= blockMessageLimit || waiting.characters >= blockCharacterLimit;
}
