import type { Message } from "@convoke/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { condensedView } from "../../agent/history-view.ts";
import type { EventDraft } from "../../events/event-draft.ts";
import { sampleConversation } from "../../journal/sample-events.ts";
import { MemoryLog, openMemoryJournal } from "../../testing/interleaving/memory-journal.ts";
import { condensedDrafts } from "../run/condense-now.ts";
import { ConversationLog } from "../conversation-log.ts";
import { decideNavigation } from "./navigate.ts";

type Step =
  | { readonly type: "message"; readonly from: "agent" | "user" }
  | { readonly type: "condense"; readonly count: number }
  | { readonly type: "notice" }
  | { readonly type: "reopen" }
  | { readonly type: "navigate"; readonly thousandths: number | null };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant("message" as const), from: fc.constantFrom("agent", "user") }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("condense" as const), count: fc.integer({ min: 1, max: 5 }) }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ type: "notice" }, { type: "reopen" }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("navigate" as const),
      thousandths: fc.option(fc.integer({ min: 0, max: 999 }), { freq: 6 }),
    }),
  },
);

function message(from: "agent" | "user", lastSeq: number): EventDraft {
  const body: Message = {
    role: from === "user" ? "user" : "assistant",
    content: [{ type: "text", text: "words", cache_prompt: false }],
    thinking_blocks: [],
  };
  return {
    body: {
      kind: "MessageEvent",
      source: from,
      llm_message: body,
      activated_skills: [],
      extended_content: [],
    },
    ...(from === "agent" ? { meta: { sawSeq: lastSeq } } : {}),
  };
}

test("W27: after any navigations the model's view is that of a tree of events, also over condensations and restarts", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (script) => {
      const memory = new MemoryLog(sampleConversation("c"));
      const journal = openMemoryJournal(memory, async (write) => write());
      const deps = { journal, lease: memory.claim(), clock: { nowMs: () => 1_700_000_000_000 } };
      let log = await ConversationLog.open(deps, memory.row);
      const parents = new Map<string, string | null>();
      let head: string | null = null;
      const add = async (drafts: readonly EventDraft[]): Promise<void> => {
        for (const { event } of await log.append(drafts)) {
          if (event.kind === "ConversationStateUpdateEvent") continue;
          parents.set(event.id!, head);
          head = event.id!;
        }
      };
      for (const one of script) {
        if (one.type === "message") await add([message(one.from, log.state.lastSeq)]);
        if (one.type === "notice") await add([{ body: { kind: "PauseEvent", source: "user" } }]);
        if (one.type === "reopen") log = await ConversationLog.open(deps, { ...memory.row, snapshot: null });
        if (one.type === "condense") {
          const forgotten = condensedView(await log.view()).slice(0, one.count);
          if (forgotten.length === 0) continue;
          const body = {
            kind: "Condensation" as const,
            source: "environment" as const,
            forgotten_event_ids: forgotten.map(({ event }) => event.id!),
            summary: "notes",
            summary_offset: 0,
            llm_response_id: "r",
          };
          await add(await condensedDrafts({ body }, log));
        }
        if (one.type === "navigate") {
          const ids = [...parents.keys()];
          const target =
            one.thousandths === null ? undefined : ids[Math.floor((one.thousandths * ids.length) / 1000)];
          const before = memory.events.length;
          await log.append((await decideNavigation(log, target ?? null)).drafts);
          expect(memory.events).toHaveLength(before + 1);
          head = target ?? null;
          expect(log.state.leafId).toBe(head);
        }
        const chain = new Set<string>();
        for (let id: string | null = head; id !== null; id = parents.get(id)!) chain.add(id);
        const whole = (await log.wholeView()).filter(({ event }) => chain.has(event.id!));
        const ids = (view: typeof whole): unknown[] => condensedView(view).map(({ event }) => event.id);
        expect(ids([...(await log.view())])).toEqual(ids(whole));
        const again = await ConversationLog.open(deps, { ...memory.row, snapshot: null });
        expect({ ...again.state, lastMicros: 0 }).toEqual({ ...log.state, lastMicros: 0 });
        expect(ids([...(await again.view())])).toEqual(ids(whole));
      }
    }),
    { numRuns: 60 },
  );
});
