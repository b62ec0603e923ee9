import { stampDrafts, type EventDraft } from "../events/event-draft.ts";
import { toNewEvent } from "../events/to-new-event.ts";
import type { ConversationRow, Journal, Lease } from "../journal/journal.ts";
import type { Clock } from "../lib/clock.ts";
import { Fault } from "../lib/fault.ts";
import type { ConversationConfig } from "../engine/conversation-config.ts";
import { initialState, type ConversationState } from "../engine/state/conversation-state.ts";
import { agentError } from "../events/call-answers.ts";
import { stateUpdate, statusUpdate } from "../events/state-update.ts";
import { applyStored, writeSnapshot } from "../engine/state/load-state.ts";
import { readConfig } from "../engine/read-config.ts";
import { conversationDamaged, conversationMissing } from "../engine/refusals.ts";
import { claimNew } from "./claim-new.ts";
import { restingConversation } from "../journal/resting-conversation.ts";

export type ForkInput = {
  readonly id: string;
  readonly title: string | null;
  readonly tags: Readonly<Record<string, string>> | null;
  readonly resetMetrics: boolean;
  /** The last copied event; all events if null. */
  readonly fromEventId: string | null;
};

type ForkJournal = Pick<
  Journal,
  "append" | "claim" | "createConversation" | "deleteConversation" | "getEvents" | "read" | "release"
>;

/** Events per copied chunk: other conversations can write between two chunks, and memory stays small. */
const chunk = 500;

/**
 * Copies a conversation up to an event into a new one of the same owner, with the same event ids; the source is
 * unchanged. In the copy, open calls are answered as not run, so that nothing happens twice. The copy is hidden
 * until it is complete. False if the id is taken.
 */
export async function forkConversation(
  deps: { readonly journal: ForkJournal; readonly clock: Clock },
  source: ConversationRow,
  input: ForkInput,
): Promise<boolean> {
  const { clock, journal } = deps;
  const endSeq = await lastSeqOf(journal, source, input.fromEventId);
  const config = readConfig(source);
  if (config === null) throw conversationDamaged(source.id);
  const whole: ConversationConfig = {
    ...config,
    tags: input.tags ?? config.tags,
    forked_from: { conversation_id: source.id, event_id: input.fromEventId },
  };
  const nowMicros = clock.nowMs() * 1000;
  const isNew = await journal.createConversation({
    ...restingConversation,
    id: input.id,
    ownerId: source.ownerId,
    title: input.title ?? source.title,
    createdAtMicros: nowMicros,
    updatedAtMicros: nowMicros,
    // If this process ends first, the next one finds and removes the copy.
    isActive: true,
    isCopying: true,
    sandboxId: source.sandboxId,
    parentId: source.parentId,
    host: source.host,
    config: JSON.stringify(whole),
    sealedSecrets: source.sealedSecrets,
  });
  if (!isNew) return false;
  const lease = await claimNew(journal, input.id);
  try {
    const state = await copyEvents(journal, source.id, lease, endSeq);
    const drafts: EventDraft[] = [
      ...state.openActions.map((action) => agentError(action, notRun)),
      ...(state.status === "idle" ? [] : [statusUpdate("idle")]),
      ...(input.resetMetrics && state.statsSeq > 0 ? [stateUpdate("stats", { usage_to_metrics: {} })] : []),
    ];
    const added = stampDrafts(drafts, state, clock.nowMs(), (json) => json).map(({ record }) => record);
    await journal.append(lease, {
      expectedSeq: endSeq,
      events: added,
      conversation: {
        isCopying: false,
        isActive: false,
        // Stored with a checkpoint, so that readers of the copy need not fold it again.
        snapshot: writeSnapshot(state),
        snapshotSeq: endSeq,
      },
    });
  } catch (error) {
    await journal.deleteConversation(lease);
    throw error;
  }
  await journal.release(lease);
  return true;
}

async function copyEvents(
  journal: ForkJournal,
  sourceId: string,
  lease: Lease,
  endSeq: number,
): Promise<ConversationState> {
  const state = initialState();
  for (let after = 0; after < endSeq;) {
    const page = await journal.read(sourceId, after, Math.min(chunk, endSeq - after));
    const ids = page.map(({ id }) => id);
    const stored = (await journal.getEvents(sourceId, ids)).filter((event) => event !== null);
    // The source was deleted meanwhile.
    if (stored.length === 0 || stored.length !== page.length) throw conversationMissing(sourceId);
    for (const event of stored) applyStored(state, sourceId, event);
    const events = stored.map((event) => toNewEvent(sourceId, event));
    await journal.append(lease, { expectedSeq: after, events });
    after += events.length;
    state.lastMicros = events.at(-1)!.timestampMicros;
  }
  return state;
}

async function lastSeqOf(
  journal: ForkJournal,
  source: ConversationRow,
  eventId: string | null,
): Promise<number> {
  if (eventId === null) return source.lastSeq;
  const [event] = await journal.getEvents(source.id, [eventId]);
  if (event) return event.seq;
  throw new Fault("missing", "event_not_found", `The conversation has no event ${eventId}.`);
}

const notRun = "This call had no result when the conversation was copied. It was not run here.";
