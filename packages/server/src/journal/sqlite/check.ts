import type { DatabaseSync } from "node:sqlite";
import { ConfigError } from "../../lib/config-error.ts";
import { eventProblems, rowProblems } from "../log-problems.ts";
import { checkDatabase } from "./check-database.ts";
import { ConversationRows } from "./conversation-rows.ts";
import { EventReader, seqsBetween } from "./event-reader.ts";
import type { LogRange } from "./log-ends.ts";
import {
  conversationNumberOf,
  formatProblem,
  isStorageFault,
  openReaderDatabase,
  OutOfPlace,
  positionOf,
} from "./schema.ts";

export type CheckDeps = {
  readonly path: string;
  /** Hears one sentence for each damage. */
  readonly onDamage: (sentence: string) => void;
  /** Hears now and then how many events have been compared. */
  readonly onProgress: (events: number) => void;
};

/**
 * Compares everything in a journal with what it should be, also while a server uses it. Returns the number of events that were read.
 * Throws {@link ConfigError} for a journal of another version.
 */
export function checkJournal({ path, onDamage, onProgress }: CheckDeps): number {
  using database = openReaderDatabase(path);
  checkDatabase(database, onDamage);
  const { user_version: format } = database.prepare("PRAGMA user_version").get() as { user_version: number };
  const problem = formatProblem(path, format);
  if (problem !== null) throw new ConfigError(problem);
  const events = new EventReader(database);
  const rows = new ConversationRows(database, (id) => events.head(id)?.lastSeq ?? null);
  let total = 0;
  const conversations = listConversations(database, onDamage);
  for (const id of conversations.values()) {
    const named = (sentence: string): void => onDamage(`Conversation ${id}: ${sentence}`);
    guard(named, () => checkRow(rows, id, named));
    guard(named, () => {
      const log = events.open(id);
      if (log === null) return;
      for (let from = 1; from <= log.lastSeq; from += slice) {
        total += checkSlice(events, log, from, named);
        if (Math.floor(total / progressEvery) > Math.floor((total - slice) / progressEvery))
          onProgress(total);
      }
    });
  }
  guard(onDamage, () => checkStrangers(database, conversations, onDamage));
  return total;
}

const slice = 256;
const progressEvery = 20_000;

/** An unreadable part is damage; the rest of the check continues. */
function guard(onDamage: CheckDeps["onDamage"], work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!isStorageFault(error) && !(error instanceof SyntaxError)) throw error;
    onDamage(`It cannot be read: ${error.message}.`);
  }
}

/** From the index of ids, which is there also where a page of the rows is not. */
function listConversations(
  database: DatabaseSync,
  onDamage: CheckDeps["onDamage"],
): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  guard(onDamage, () => {
    const rows = database.prepare("SELECT number, id FROM conversations ORDER BY id").all();
    for (const { number, id } of rows) found.set(Number(number), String(id));
  });
  return found;
}

function checkRow(rows: ConversationRows, id: string, onDamage: CheckDeps["onDamage"]): void {
  const row = rows.get(id);
  if (row === null) {
    onDamage("its row is gone.");
    return;
  }
  for (const problem of rowProblems(row)) onDamage(problem);
}

function checkSlice(
  events: EventReader,
  log: LogRange,
  from: number,
  onDamage: CheckDeps["onDamage"],
): number {
  const seqs = seqsBetween(from, Math.min(log.lastSeq, from + slice - 1));
  const before = from > 1 ? events.idAt(log, from - 1) : "";
  for (const problem of eventProblems(events.readEach(log, seqs), before)) onDamage(problem);
  return seqs.length;
}

/** Events under a number that no conversation has. */
function checkStrangers(
  database: DatabaseSync,
  conversations: ReadonlyMap<number, string>,
  onDamage: CheckDeps["onDamage"],
): void {
  const deleted = new Set(
    database
      .prepare("SELECT number FROM doomed")
      .all()
      .map(({ number }) => Number(number)),
  );
  const next = database.prepare("SELECT position FROM events WHERE position >= ? ORDER BY position LIMIT 1");
  for (let from = 0; ;) {
    const position = next.get(from)?.["position"];
    if (position === undefined) return;
    if (Number(position) < from) throw new OutOfPlace(Number(position));
    const number = conversationNumberOf(Number(position));
    if (!conversations.has(number) && !deleted.has(number)) {
      onDamage(`There are events under the number ${number}, and no conversation has it.`);
    }
    from = positionOf(number + 1, 0);
  }
}
