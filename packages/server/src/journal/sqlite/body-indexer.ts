import type { DatabaseSync, StatementSync } from "node:sqlite";
import { foldText } from "../text-terms.ts";
import { readText, type TextPlace } from "../text-place.ts";
import { blockCharacterLimit, blockMessageLimit } from "../text-blocks.ts";
import { toBlockWords, type BlockMessage } from "./body.ts";
import { ClassReader } from "./classes.ts";
import { maxSeq, positionOf, streamOf } from "./schema.ts";

/** Closes blocks of the body index, after the commits that fill them: an append never waits for it. */
export class BodyIndexer {
  /** How many settled texts of a stream are in no block. */
  readonly #waiting = new Map<number, number>();
  readonly #due = new Set<number>();
  readonly #classes: ClassReader;
  readonly #lastBlock: StatementSync;
  readonly #messages: StatementSync;
  readonly #insertBlock: StatementSync;
  readonly #insertWords: StatementSync;
  readonly #changes: StatementSync;
  readonly #mergePages: StatementSync;
  #isMerging = false;

  constructor(database: DatabaseSync) {
    this.#classes = new ClassReader(database);
    this.#lastBlock = database.prepare(
      "SELECT last_seq AS seq FROM body_blocks WHERE stream = ? ORDER BY first_seq DESC LIMIT 1",
    );
    this.#messages = database.prepare(
      `SELECT position, json, text FROM events
       WHERE class = ? AND position BETWEEN ? AND ? ORDER BY position LIMIT ${blockMessageLimit}`,
    );
    this.#messages.setReturnArrays(true);
    this.#insertBlock = database.prepare(
      "INSERT INTO body_blocks (stream, first_seq, last_seq, messages) VALUES (?, ?, ?, ?) RETURNING id",
    );
    this.#changes = database.prepare("SELECT total_changes() AS changes");
    this.#mergePages = database.prepare("INSERT INTO body_index (body_index, rank) VALUES ('merge', ?)");
    this.#insertWords = database.prepare("INSERT INTO body_index (rowid, grams) VALUES (?, ?)");
  }

  get isDue(): boolean {
    return this.#due.size > 0 || this.#isMerging;
  }

  /** Counts a settled text. A stream met for the first time is looked at once, for what a former process left. */
  onText(stream: number): void {
    const waiting = this.#waiting.get(stream);
    if (waiting === undefined || waiting + 1 >= blockMessageLimit) this.#due.add(stream);
    else this.#waiting.set(stream, waiting + 1);
  }

  /** Looks for what a former owner has left. */
  onClaim(conversationNumber: number): void {
    for (const { code } of this.#classes.select(({ hasText }) => hasText)) {
      this.#due.add(streamOf(conversationNumber, code));
    }
  }

  /** Merges the segments of the index once no block is due. */
  mergeAll(): void {
    this.#isMerging = true;
  }

  /** Closes at most a few blocks, or merges for as long, inside the caller's transaction. */
  runSlice(): number[] {
    if (this.#due.size === 0) this.#merge();
    let budget = blocksPerSlice;
    for (const stream of this.#due) {
      // Removed first: after a fault the next text of the stream tries again, and until then the search scans.
      this.#due.delete(stream);
      this.#waiting.delete(stream);
      this.#closeBlock(stream);
      budget -= 1;
      if (budget === 0) break;
    }
    return [];
  }

  #merge(): void {
    const countChanges = (): number => Number(this.#changes.get()?.["changes"]);
    const before = countChanges();
    this.#mergePages.run(mergePagesPerSlice);
    // The command itself counts as a change.
    if (countChanges() - before < 2) this.#isMerging = false;
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
    if (rows.length < blockMessageLimit) {
      if (this.#waiting.size >= waitingLimit) this.#waiting.clear();
      this.#waiting.set(stream, rows.length);
      return;
    }
    const messages: BlockMessage[] = [];
    let characters = 0;
    for (const [position, json, place] of rows) {
      const text = foldText(readText(place, json) ?? "");
      messages.push([position - base, text]);
      characters += text.length;
      if (characters >= blockCharacterLimit) break;
    }
    const [first, last] = [messages[0]?.[0] ?? 0, messages.at(-1)?.[0] ?? 0];
    const block = this.#insertBlock.get(stream, first, last, JSON.stringify(messages)) as { id: number };
    this.#insertWords.run(block.id, toBlockWords(stream, messages));
    this.#due.add(stream);
  }
}

/** A block takes one or two milliseconds, and an append may have to wait for it. */
const blocksPerSlice = 1;
const mergePagesPerSlice = 200;

/** Streams beyond this many are forgotten, and counted again when they are next met. */
const waitingLimit = 10_000;

type MessageRow = [position: number, json: string, text: TextPlace];
