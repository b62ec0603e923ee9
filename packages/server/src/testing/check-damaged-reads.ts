import type { EventQuery, Journal } from "../journal/journal.ts";
import { damagedMark } from "../journal/shown-event.ts";
import { isDamage } from "../lib/storage-fault.ts";

/** A conversation before its store was damaged. */
export type WholeLog = { readonly id: string; readonly ownerId: string; readonly events: readonly string[] };

/** Maximum pages of a log of these sizes; more mean that the read does not end. */
const maxPages = 400;

/**
 * Reads a damaged store in every possible way. A read may fail by saying that the store is damaged. An answer must not show an event
 * that never existed, hide one silently, or differ from another answer.
 */
export async function checkDamagedReads(journal: Journal, logs: readonly WholeLog[]): Promise<string[]> {
  const wrong: string[] = [];
  const ask = async <Answer>(
    what: string,
    read: () => Promise<Answer> | Answer,
  ): Promise<Answer | undefined> => {
    try {
      return await read();
    } catch (error) {
      if (!isDamage(error)) wrong.push(`${what}: ${String(error)}`);
      return undefined;
    }
  };
  for (const { ownerId } of logs.slice(0, 1)) {
    await ask("list", () => journal.searchConversations({ ownerId, sort: "UPDATED_AT_DESC", limit: 100 }));
    await ask("app list", () => journal.searchAppConversations({ ownerId, sort: "CREATED_AT", limit: 100 }));
    await ask("app count", () => journal.countAppConversations({ ownerId }));
    await ask("all", () => journal.searchConversations({ sort: "CREATED_AT", limit: 100 }));
    await ask("glances", () => journal.searchSummaries({ ownerId, limit: 100 }));
    await ask("count of conversations", () => journal.countConversations({ ownerId }));
    await ask("texts", () => journal.searchTexts({ ownerId, terms: ["hello"], limit: 50 }));
    await ask("active", () => journal.listActiveElsewhere());
  }
  for (const log of logs) {
    const report = (what: string): void => void wrong.push(`${log.id}: ${what}`);
    await checkLog(journal, log, report, (what, read) => ask(`${log.id}: ${what}`, read));
  }
  return wrong;
}

type Ask = <Answer>(what: string, read: () => Promise<Answer> | Answer) => Promise<Answer | undefined>;

async function checkLog(
  journal: Journal,
  { id, events }: WholeLog,
  report: (what: string) => void,
  ask: Ask,
): Promise<void> {
  const read = await ask("read", () => readAll(journal, id));
  const row = await ask("row", () => journal.getConversation(id));
  const end = await ask("last seq", () => journal.lastSeq(id));
  if (read !== undefined) {
    if (read.some(({ seq }, index) => seq !== index + 1)) report("read has a gap");
    if (end !== undefined && end !== read.length) report(`read has ${read.length} events, its end is ${end}`);
    for (const { seq, json } of read)
      if (json !== "" && json !== events[seq - 1]) report(`event ${seq} never was`);
    // The end in the row proves that so many events exist.
    const least = Math.min(events.length, row?.snapshotSeq ?? 0);
    if (read.length < least) report(`read has ${read.length} of at least ${least} events`);
    if (row && row.lastSeq !== read.length) report(`its row ends at ${row.lastSeq}, read at ${read.length}`);
  }
  const kinds = [undefined, "MessageEvent", "ActionEvent", "ConversationStateUpdateEvent"];
  const filters: { kind?: string | undefined; body?: string; source?: string }[] = kinds.map((kind) => ({
    kind,
  }));
  for (const filter of [...filters, { body: "hello" }, { source: "agent" }]) {
    const named = JSON.stringify(filter);
    const { ...given } = Object.fromEntries(
      Object.entries(filter).filter(([, value]) => value !== undefined),
    );
    const up = await ask(`search ${named}`, () => searchAll(journal, id, { ...given, order: "TIMESTAMP" }));
    const down = await ask(`search ${named} down`, () =>
      searchAll(journal, id, { ...given, order: "TIMESTAMP_DESC" }),
    );
    const count = await ask(`count ${named}`, () => journal.count(id, given));
    if ((up === undefined) !== (down === undefined)) report(`one order of ${named} fails`);
    if (up !== undefined && down !== undefined && JSON.stringify(up) !== JSON.stringify(down.toReversed()))
      report(`the orders of ${named} differ`);
    // The text search works in blocks, and a page sees other blocks than the whole search.
    const isExact = filter.body === undefined;
    if (isExact && up !== undefined && count !== undefined && up.length !== count)
      report(`${named} finds ${up.length} and counts ${count}`);
    for (const json of up ?? [])
      if (!json.includes(damagedMark) && !events.includes(json))
        report(`${named} shows an event that never was`);
    if (named === "{}" && up !== undefined && read !== undefined && up.length !== read.length)
      report(`search has ${up.length} events, read ${read.length}`);
  }
  await ask("kinds", () => journal.readKinds(id, ["MessageEvent", "ActionEvent"], 1, 2 ** 28 - 1));
  await ask("seqs", () => journal.findSeqs(id, { kind: "MessageEvent" }));
  await ask("inbox", () => journal.listInbox(id));
  await ask("by time", () => journal.search(id, { order: "TIMESTAMP", limit: 9, timestampGteMicros: 1 }));
  await ask("by time", () => journal.count(id, { timestampLtMicros: Date.now() * 1000 }));
  const ids = events.slice(0, 40).map((json) => (JSON.parse(json) as { id: string }).id);
  await ask("by ids", () => journal.getEvents(id, ids));
}

async function readAll(journal: Journal, id: string) {
  const events: { seq: number; json: string }[] = [];
  for (let pages = 0; ; pages += 1) {
    const page = await journal.read(id, events.length, 7);
    if (page.length === 0) return events;
    if (pages === maxPages) throw new Error("it has no end");
    events.push(...page);
  }
}

async function searchAll(journal: Journal, id: string, query: Omit<EventQuery, "limit" | "pageId">) {
  const items: string[] = [];
  let next: { pageId?: string } | null = {};
  for (let pages = 0; next !== null; pages += 1) {
    if (pages === maxPages) throw new Error("it has no end");
    const page = await journal.search(id, { ...query, limit: 11, ...next });
    items.push(...page.items);
    next = page.nextPageId === null ? null : { pageId: page.nextPageId };
  }
  return items;
}
