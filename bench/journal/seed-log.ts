import type { Journal, Lease, NewEvent } from "../../packages/server/src/journal/journal.ts";
import {
  sampleConversation,
  sampleEvent,
  type SampleShape,
} from "../../packages/server/src/journal/sample-events.ts";

export type SeededLog = { readonly conversationId: string; readonly lease: Lease; readonly size: number };

/** Fills one conversation with a realistic mix: messages, actions, observations, some rare kinds; 1 KB each. */
export async function seedLog(journal: Journal, conversationId: string, size: number): Promise<SeededLog> {
  await journal.createConversation(sampleConversation(conversationId));
  const lease = await journal.claim(conversationId);
  let pending: Promise<void> = Promise.resolve();
  for (let seq = 0; seq < size; seq += batchSize) {
    const events = Array.from({ length: Math.min(batchSize, size - seq) }, (_, index) =>
      mixedEvent(seq + index + 1),
    );
    const appended = journal.append(lease, { expectedSeq: seq, events });
    // Two pending batches keep both threads busy.
    await pending;
    pending = appended;
  }
  await pending;
  return { conversationId, lease, size };
}

/** Waits for the background work after the seeding, which would be measured too. */
export async function untilQuiet(journal: Journal, log: SeededLog): Promise<void> {
  const latest = performance.now() + quietLimitMs;
  for (let quickRounds = 0; quickRounds < 10 && performance.now() < latest;) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const startedAt = performance.now();
    await journal.append(log.lease, { expectedSeq: log.size, events: [] });
    quickRounds = performance.now() - startedAt < 1 ? quickRounds + 1 : 0;
  }
}

/** Waits until the index of texts has read everything, which would be measured too. */
export async function untilRead(journal: Journal): Promise<void> {
  const query = { ownerId: "owner", terms: ["zyzzyva"], limit: 1 };
  const latest = performance.now() + readLimitMs;
  while (performance.now() < latest && !(await journal.searchTexts(query)).isComplete)
    await new Promise((resolve) => setTimeout(resolve, 500));
}

/** The event at `seq` of a seeded log: one in ten is a message. */
export function mixedEvent(seq: number): NewEvent {
  return sampleEvent(seq, { ...shapeAt(seq), minLength: eventBytes });
}

/** A word in one message of a thousand. */
export const rareWord = "Kestrel";
const rareEvery = 10_000;
/** A word in every agent message and no user message. */
export const agentWord = "I looked at";

const readLimitMs = 300_000;
const quietLimitMs = 30_000;
const batchSize = 2000;
const eventBytes = 1000;

function shapeAt(seq: number): SampleShape {
  if (seq % 50_000 === 17) return { kind: "ConversationErrorEvent", source: "environment" };
  if (seq % 10 === 0) {
    return seq % 100 === 0
      ? { kind: "MessageEvent", source: "user", text: sentence(seq, "please check") }
      : { kind: "MessageEvent", source: "agent", text: sentence(seq, agentWord) };
  }
  return seq % 2 === 1 ? { kind: "ActionEvent" } : { kind: "ObservationEvent", source: "environment" };
}

const vocabulary =
  "the server of a module returns an error when file path is wrong and then test fails with status code in line number below so we try another way to parse input before writing output again for every request that has no header".split(
    " ",
  );

function sentence(seq: number, opening: string): string {
  const words = Array.from(
    { length: 40 },
    (_, index) => vocabulary[(seq * 7 + index * (1 + (seq % 13))) % vocabulary.length],
  );
  const rare = seq % rareEvery < 10 ? ` ${rareWord}` : "";
  return `${opening} item ${seq}: ${words.join(" ")}${rare}`;
}
