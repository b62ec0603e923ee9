import { formatInstant, parseInstant } from "../lib/instant.ts";
import { searchableText, stampDrafts, type EventDraft } from "../journal/event-draft.ts";
import type { ConversationRow, EventWithMeta, Journal, NewEvent } from "../journal/journal.ts";
import { Fault } from "../lib/fault.ts";
import type { ConversationConfig } from "./conversation-config.ts";
import { initialState } from "./conversation-state.ts";
import { agentError, stateUpdate, statusUpdate } from "./decide.ts";
import { applyEvent } from "./fold.ts";
import { parseStored } from "./load-state.ts";

export type ForkInput = {
  readonly id: string;
  readonly title: string | null;
  readonly tags: Readonly<Record<string, string>> | null;
  readonly resetMetrics: boolean;
  /** The last event that is copied; all of them when null. */
  readonly fromEventId: string | null;
};

type ForkJournal = Pick<
  Journal,
  "append" | "claim" | "createConversation" | "getEvents" | "lastSeq" | "read" | "release"
>;

const chunk = 1000;

/**
 * Copies a conversation up to an event into a new one of the same owner, with the same event ids; the source stays as it
 * is. Calls without an answer are answered there as not run, so that nothing happens twice. False when the id is taken.
 */
export async function forkConversation(
  deps: { readonly journal: ForkJournal; readonly nowMs: () => number },
  source: ConversationRow,
  input: ForkInput,
): Promise<boolean> {
  const { journal, nowMs } = deps;
  const copied = await readUpTo(journal, source, input.fromEventId);
  const state = initialState();
  for (const stored of copied) applyEvent(state, parseStored(stored));
  const events = copied.map(toNewEvent);
  state.lastMicros = events.at(-1)?.timestampMicros ?? 0;
  const drafts: EventDraft[] = [
    ...state.openActions.map((action) => agentError(action, notRun)),
    ...(state.status === "idle" ? [] : [statusUpdate("idle")]),
    ...(input.resetMetrics && state.statsSeq > 0 ? [stateUpdate("stats", { usage_to_metrics: {} })] : []),
  ];
  const added = stampDrafts(drafts, state, nowMs(), (json) => json).map(({ record }) => record);
  const config = JSON.parse(source.config) as ConversationConfig;
  const nowMicros = nowMs() * 1000;
  const isNew = await journal.createConversation({
    id: input.id,
    ownerId: source.ownerId,
    title: input.title ?? source.title,
    createdAtMicros: nowMicros,
    updatedAtMicros: nowMicros,
    executionStatus: "idle",
    isActive: false,
    config: JSON.stringify({
      ...config,
      tags: input.tags ?? config.tags,
      forked_from: { conversation_id: source.id, event_id: input.fromEventId },
    }),
    sealedSecrets: source.sealedSecrets,
    snapshot: null,
    snapshotSeq: 0,
  });
  if (!isNew || events.length + added.length === 0) return isNew;
  const lease = await journal.claim(input.id);
  try {
    // One batch: a fork is whole or empty.
    await journal.append(lease, { expectedSeq: 0, events: [...events, ...added] });
  } finally {
    await journal.release(lease);
  }
  return true;
}

async function readUpTo(
  journal: ForkJournal,
  source: ConversationRow,
  lastId: string | null,
): Promise<EventWithMeta[]> {
  const events: EventWithMeta[] = [];
  for (let after = 0; ;) {
    const page = await journal.read(source.id, after, chunk);
    const ids = page.map(({ id }) => id);
    for (const event of await journal.getEvents(source.id, ids)) {
      if (event === null) continue;
      events.push(event);
      if (event.id === lastId) return events;
    }
    if (page.length < chunk) break;
    after = page.at(-1)!.seq;
  }
  if (lastId !== null) {
    throw new Fault("missing", "event_not_found", `The conversation has no event ${lastId}.`);
  }
  return events;
}

function toNewEvent({ id, json, meta }: EventWithMeta): NewEvent {
  const { event } = parseStored({ seq: 0, id, json, meta });
  return {
    id,
    timestampMicros: parseInstant(event.timestamp ?? formatInstant(0)) ?? 0,
    kind: event.kind,
    source: event.source ?? "environment",
    json,
    text: searchableText(event),
    meta,
  };
}

const notRun = "This call had no result when the conversation was copied. It was not run here.";
