import { isDeepStrictEqual } from "node:util";
import { toNewEvent } from "../events/to-new-event.ts";
import type {
  AppendBatch,
  ConversationRow,
  EventWithMeta,
  Journal,
  Lease,
  NewEvent,
  NotedEntry,
} from "../journal/journal.ts";

/** Both stores have a conversation with this id, with different contents. */
export class CopyConflictError extends Error {
  override readonly name = "CopyConflictError";
}

export type CopiedConversation = {
  /** Events that were compared on both sides, including those that already existed. */
  readonly events: number;
  /** Those of them that this copy wrote. */
  readonly added: number;
  /** Fields of the conversation that had to be changed because the target cannot store them. */
  readonly changed: readonly string[];
};

type Sides = {
  readonly source: Journal;
  readonly target: Journal;
  /** Reseals the source's sealed texts for the target. */
  readonly reseal: (sealed: string) => string;
};

const chunk = 500;

/**
 * Copies one conversation to another store: ids, times, texts and order of its events, their private facts, and the
 * inbox of client messages. Resumes an interrupted copy, and compares everything at the end. The copy stays hidden
 * until it is complete. Rejects with {@link CopyConflictError} when the target has another log.
 */
export async function copyConversation(sides: Sides, row: ConversationRow): Promise<CopiedConversation> {
  const { target } = sides;
  const before = (await target.getConversation(row.id)) ?? (await create(sides, row));
  if (before.lastSeq > row.lastSeq)
    throw conflict(row.id, `has ${before.lastSeq} events, not ${row.lastSeq}`);
  await compare(sides, row.id, 0, before.lastSeq);
  if (changedFields(before, row).length === 0) return { events: row.lastSeq, added: 0, changed: [] };
  const lease = await target.claim(row.id);
  try {
    await addEvents(sides, row, lease, before.lastSeq);
    await compare(sides, row.id, before.lastSeq, row.lastSeq);
    await target.append(lease, {
      expectedSeq: row.lastSeq,
      events: [],
      conversation: {
        title: row.title,
        executionStatus: row.executionStatus,
        isActive: row.isActive,
        isCopying: false,
        updatedAtMicros: row.updatedAtMicros,
        config: row.config,
        sealedSecrets: row.sealedSecrets === null ? null : sides.reseal(row.sealedSecrets),
        snapshot: row.snapshot,
        snapshotSeq: row.snapshotSeq,
      },
    });
    await target.markConversation(row.id, { ...row.marks, appFacts: row.appFacts });
  } finally {
    await target.release(lease);
  }
  const there = await target.getConversation(row.id);
  if (there === null) throw conflict(row.id, "was deleted meanwhile");
  return {
    events: row.lastSeq,
    added: row.lastSeq - before.lastSeq,
    changed: changedFields(there, row),
  };
}

/** Hidden from lists, and from nodes that search for runs to resume, until the copy is complete. */
async function create({ target }: Sides, row: ConversationRow): Promise<ConversationRow> {
  const { lastSeq: _lastSeq, marks, ...fields } = row;
  const hidden = {
    ...fields,
    isActive: false,
    isCopying: true,
    sealedSecrets: null,
    snapshot: null,
    snapshotSeq: 0,
  };
  await target.createConversation(hidden);
  return { ...hidden, lastSeq: 0, marks };
}

/** Sealed texts differ between stores; resealing proves that they can be opened. */
function changedFields(there: ConversationRow, row: ConversationRow): string[] {
  const plain = ({ sealedSecrets, appFacts, ...fields }: ConversationRow): Record<string, unknown> => ({
    ...fields,
    appFacts: appFacts === null ? null : (JSON.parse(appFacts) as unknown),
    secrets: sealedSecrets !== null,
  });
  const found = plain(there);
  return Object.entries(plain(row)).flatMap(([name, value]) =>
    isDeepStrictEqual(found[name], value) ? [] : [name],
  );
}

async function addEvents(
  { source, target }: Sides,
  row: ConversationRow,
  lease: Lease,
  from: number,
): Promise<void> {
  const inbox = new Map((await source.listInbox(row.id)).map((entry) => [entry.eventId, entry]));
  for (let after = from; after < row.lastSeq;) {
    const stored = await readEvents(source, row.id, after);
    for (const batch of batchesOf(row.id, stored, inbox)) {
      await target.append(lease, { ...batch, expectedSeq: after });
      after += batch.events.length;
    }
  }
}

/** One append can record one client message id, so each append ends with the event of such a message. */
function batchesOf(
  id: string,
  stored: readonly EventWithMeta[],
  inbox: ReadonlyMap<string, NotedEntry>,
): Omit<AppendBatch, "expectedSeq">[] {
  const batches: { events: NewEvent[]; inbox?: NotedEntry }[] = [{ events: [] }];
  for (const event of stored) {
    const current = batches.at(-1)!;
    current.events.push(toNewEvent(id, event));
    const entry = inbox.get(event.id);
    if (entry === undefined) continue;
    current.inbox = entry;
    batches.push({ events: [] });
  }
  return batches.filter(({ events }) => events.length > 0);
}

/** Both logs in `(after, end]`, event by event. */
async function compare({ source, target }: Sides, id: string, after: number, end: number): Promise<void> {
  for (let at = after; at < end;) {
    const [ours, theirs] = [await readEvents(source, id, at), await readEvents(target, id, at)];
    const count = Math.min(ours.length, theirs.length, end - at);
    for (let index = 0; index < count; index++) {
      if (!isDeepStrictEqual(ours[index], theirs[index]))
        throw conflict(id, `differs at event ${at + index + 1}`);
    }
    if (count === 0) throw conflict(id, `ends at event ${at}`);
    at += count;
  }
}

async function readEvents(journal: Journal, id: string, after: number): Promise<EventWithMeta[]> {
  const ids = (await journal.read(id, after, chunk)).map((event) => event.id);
  const events = (await journal.getEvents(id, ids)).filter((event) => event !== null);
  if (events.length === 0) throw conflict(id, `ends at event ${after}`);
  return events;
}

function conflict(id: string, what: string): CopyConflictError {
  return new CopyConflictError(`The conversation ${id} at the target ${what}; it was left as it is.`);
}
