import fc from "fast-check";
import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { systemClock } from "../lib/clock.ts";
import { condensedView, idInLog } from "../agent/history-view.ts";
import type { EventDraft } from "../events/event-draft.ts";
import { sampleConversation } from "../journal/sample-events.ts";
import { MemoryLog, openMemoryJournal } from "../testing/interleaving/memory-journal.ts";
import { ConversationLog } from "./conversation-log.ts";
import { statusUpdate } from "../events/state-update.ts";
import { condensedDrafts } from "./run/condense-now.ts";

/** What comes into the log: some words of a person, an answer, a summary of some of the view, or the memory is given back. */
/** By day a third of the cases; all with `CONVOKE_EVERY_CASE=1`. */
const nth = process.env["CONVOKE_EVERY_CASE"] === "1" ? 1 : 3;

const steps = fc.array(
  fc.oneof(
    { arbitrary: fc.constant({ what: "message" as const }), weight: 4 },
    { arbitrary: fc.constant({ what: "answer" as const }), weight: 4 },
    {
      arbitrary: fc.record({
        what: fc.constant("condense" as const),
        isLeaving: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
      }),
      weight: 2,
    },
    { arbitrary: fc.constant({ what: "forget" as const }), weight: 1 },
  ),
  { minLength: 5, maxLength: 40 },
);

test("P12, P57, P59: what condensations leave to be read is what the whole log gives, also when it is read again", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const memory = new MemoryLog(sampleConversation("c"));
      const journal = openMemoryJournal(memory, async (write) => write());
      let nowMs = 1_700_000_000_000;
      const deps = { journal, lease: memory.claim(), clock: { nowMs: () => (nowMs += 1) } };
      const log = await ConversationLog.open(deps, memory.row);
      for (const step of taken) {
        if (step.what === "forget") log.forgetView();
        else if (step.what === "condense") await condense(log, step.isLeaving);
        else await log.append([step.what === "message" ? message("user") : answer(log)]);
        const whole = idsOf(await log.wholeView());
        const left = idsOf(await log.view());
        if (left !== whole) throw new Error(`${step.what}: the log gives ${whole}, its rest gives ${left}`);
        const seqs = (await log.recent()).map(({ seq }) => seq);
        expect(seqs).toEqual((await log.wholeView()).map(({ seq }) => seq).slice(-64));
      }
    }),
    { numRuns: 300 / nth, seed: 2026 },
  );
});

test("issue 13.1: a field of the row is stored when it changes, also after the log was opened again", async () => {
  const memory = new MemoryLog(sampleConversation("c"));
  const journal = openMemoryJournal(memory, async (write) => write());
  const stored: unknown[] = [];
  const append: typeof journal.append = (lease, batch) => {
    const { executionStatus = "-", isActive = "-" } = batch.conversation ?? {};
    stored.push([executionStatus, isActive]);
    return journal.append(lease, batch);
  };
  const open = (): Promise<ConversationLog> =>
    ConversationLog.open(
      { journal: { ...journal, append }, lease: memory.claim(), clock: systemClock },
      memory.row,
    );
  const log = await open();
  for (const draft of [message("user"), message("user"), statusUpdate("running"), message("agent")])
    await log.append([draft]);
  expect(stored.splice(0)).toEqual([
    ["idle", false],
    ["-", "-"],
    ["running", true],
    ["-", "-"],
  ]);
  await (await open()).append([message("agent")]);
  expect(stored).toEqual([["running", true]]);
});

test("issue 12.1: resuming a run reads its events once, for loop detection and for the model request", async () => {
  const memory = new MemoryLog(sampleConversation("c"));
  const journal = openMemoryJournal(memory, async (write) => write());
  const before = await ConversationLog.open(
    { journal, lease: memory.claim(), clock: systemClock },
    memory.row,
  );
  await before.append([message("user"), message("agent")]);
  let readings = 0;
  const readKinds: typeof journal.readKinds = (...range) => {
    readings += 1;
    return journal.readKinds(...range);
  };
  const counted = { journal: { ...journal, readKinds }, lease: memory.claim(), clock: systemClock };
  const log = await ConversationLog.open(counted, memory.row);
  readings = 0;
  expect((await log.recent()).map(({ seq }) => seq)).toEqual([1, 2]);
  expect((await log.view()).map(({ seq }) => seq)).toEqual([1, 2]);
  expect(readings).toBe(1);
});

test("issue 13: a view holds events, without the texts that were stored of them", async () => {
  const memory = new MemoryLog(sampleConversation("c"));
  const journal = openMemoryJournal(memory, async (write) => write());
  const log = await ConversationLog.open({ journal, lease: memory.claim(), clock: systemClock }, memory.row);
  await log.append([message("user")]);
  const grown = [...(await log.view()), ...(await log.recent())];
  log.forgetView();
  const read = [...(await log.view()), ...(await log.recent())];
  expect(grown).toEqual(read);
});

async function condense(log: ConversationLog, isLeaving: readonly boolean[]): Promise<void> {
  const view = condensedView(await log.view());
  const chosen = view.filter((_, index) => isLeaving[index % isLeaving.length]);
  if (chosen.length === 0) return;
  // A summary never stays beside the one that is made of it.
  const leaving = view.filter(
    (item) => item.event.kind === "CondensationSummaryEvent" || chosen.includes(item),
  );
  const drafts = await condensedDrafts(
    {
      body: {
        kind: "Condensation",
        source: "environment",
        forgotten_event_ids: leaving.map(({ event }) => idInLog(event)),
        summary: "What was.",
        summary_offset: view.indexOf(leaving[0]!),
        llm_response_id: "none",
      },
    },
    log,
  );
  const [condensation] = await log.append(drafts);
  const { forgotten_event_ids: ids = [] } = condensation!.event as Extract<Event, { kind: "Condensation" }>;
  for (const id of ids) if ((await log.find(id)) === null) throw new Error(`no page holds ${id}`);
}

const idsOf = (view: Parameters<typeof condensedView>[0]): string =>
  condensedView(view)
    .map(({ event }) => event.id)
    .join(" ");

function message(source: "user" | "agent"): EventDraft {
  const role = source === "user" ? "user" : "assistant";
  const content = [{ type: "text" as const, text: "Words.", cache_prompt: false }];
  return { body: { kind: "MessageEvent", source, llm_message: { role, content, thinking_blocks: [] } } };
}

function answer(log: ConversationLog): EventDraft {
  return { ...message("agent"), meta: { sawSeq: log.state.lastSeq } };
}
