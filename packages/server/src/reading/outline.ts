import type { Event, OutlinePage, Turn } from "@convoke/protocol";
import type { EventFilter, Journal } from "../journal/journal.ts";
import { parseInstant } from "../lib/instant.ts";
import { beginningOf } from "../engine/state/shown-facts.ts";

type OutlineJournal = Pick<Journal, "count" | "search">;
type Span = Pick<EventFilter, "timestampGteMicros" | "timestampLtMicros">;

const shownCharacters = 200;
const userMessages = { kind: "MessageEvent", source: "user" } as const;

/**
 * A page of turns, the newest first, of the log up to an instant where one is given. Reads only those turns, by the index of
 * kinds.
 */
export async function readOutline(
  journal: OutlineJournal,
  id: string,
  {
    limit,
    pageId,
    upToMicros,
  }: {
    readonly limit: number;
    readonly pageId?: string | undefined;
    readonly upToMicros?: number | undefined;
  },
): Promise<OutlinePage> {
  const logEnd = upToMicros === undefined ? null : upToMicros + 1;
  const page = await journal.search(id, {
    ...userMessages,
    timestampLtMicros: logEnd ?? undefined,
    order: "TIMESTAMP_DESC",
    limit,
    pageId,
  });
  const items: Turn[] = [];
  let endMicros: number | null = null;
  for (const [index, message] of parsed(page.items).entries()) {
    const fromMicros = microsOf(message);
    if (index === 0) endMicros = (await nextMessageMicros(journal, id, fromMicros, logEnd)) ?? logEnd;
    items.push(await readTurn(journal, id, message, spanOf(fromMicros, endMicros)));
    endMicros = fromMicros;
  }
  return { items, next_page_id: page.nextPageId };
}

async function readTurn(journal: OutlineJournal, id: string, message: Event, span: Span): Promise<Turn> {
  const count = (kind: string): Promise<number> => journal.count(id, { kind, ...span });
  const newest = async (filter: EventFilter): Promise<Event | null> => {
    const { items } = await journal.search(id, { ...filter, ...span, order: "TIMESTAMP_DESC", limit: 1 });
    return parsed(items)[0] ?? null;
  };
  const last = (await newest({})) ?? message;
  const answer = await newest({ kind: "MessageEvent", source: "agent" });
  return {
    event_id: message.id!,
    at: message.timestamp!,
    text: textOf(message),
    last_event_id: last.id!,
    duration_ms: Math.round((microsOf(last) - microsOf(message)) / 1_000),
    answer: answer === null ? null : textOf(answer),
    actions: await count("ActionEvent"),
    failed: await count("AgentErrorEvent"),
    rejected: await count("UserRejectObservation"),
    errors: await count("ConversationErrorEvent"),
    condensations: await count("Condensation"),
  };
}

/** Null for the newest turn. */
async function nextMessageMicros(
  journal: OutlineJournal,
  id: string,
  after: number,
  logEnd: number | null,
): Promise<number | null> {
  const query = { ...userMessages, order: "TIMESTAMP", limit: 1, ...spanOf(after + 1, logEnd) } as const;
  const [next] = parsed((await journal.search(id, query)).items);
  return next === undefined ? null : microsOf(next);
}

function spanOf(from: number, end: number | null): Span {
  return { timestampGteMicros: from, timestampLtMicros: end ?? undefined };
}

function parsed(texts: readonly string[]): Event[] {
  return texts.map((text) => JSON.parse(text) as Event);
}

function microsOf({ timestamp }: Event): number {
  return parseInstant(timestamp ?? "") ?? 0;
}

function textOf(event: Event): string {
  return event.kind === "MessageEvent" ? beginningOf(event.llm_message, shownCharacters) : "";
}
