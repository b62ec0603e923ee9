import { defaultTools, facesOf, listTool, type ToolListing } from "@convoke/tool-host";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ConversationLog } from "./conversation-log.ts";
import { decideNavigation } from "./commands/navigate.ts";
import { condensedDrafts } from "./run/condense-now.ts";
import type { EventDraft } from "../events/event-draft.ts";
import { parseStored } from "../events/parse-stored.ts";
import { sampleConversation } from "../journal/sample-events.ts";
import { MemoryLog, openMemoryJournal } from "../testing/interleaving/memory-journal.ts";
import { openMemoryConversation } from "../testing/memory-conversation.ts";
import { wholeLogContext } from "../testing/whole-log-context.ts";
import { createWindowedModel } from "../testing/windowed-model.ts";
import { AgentRequests, withRequestMeta } from "../agent/agent-requests.ts";
import { navigationsIn } from "../agent/branches.ts";
import { condensedView, idInLog } from "../agent/history-view.ts";
import { noSpend } from "../agent/replay/request-spend.ts";
import { RequestHash } from "../agent/request-hash.ts";
import { BranchReader } from "../agent/replay/branch-reader.ts";
import { readContext } from "../agent/replay/read-context.ts";
import { readReplayLog } from "../agent/replay/read-log.ts";
import { condenserMessages } from "../agent/replay/replay-log.ts";

const context = {
  sessionId: "c",
  workspaceDir: "/",
  stateDir: "/",
  environment: {},
  params: {},
  canSee: false,
};
const listings: ToolListing[] = defaultTools()
  .filter(({ name }) => name === "terminal" || name === "finish")
  .flatMap((tool) => facesOf(tool).map((face) => listTool(face, context)));

/** How much a log says about a request: releases of before had no record, or none of where the tools are. */
const records = ["new", "new", "new", "withoutTools", "none"] as const;
type Step =
  | { readonly what: "message" | "pause" | "tools" }
  | {
      readonly what: "answer" | "call" | "fail";
      readonly record: (typeof records)[number];
      readonly isLate: boolean;
    }
  | { readonly what: "condense"; readonly count: number; readonly hasMeta: boolean }
  | { readonly what: "navigate"; readonly to: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constantFrom("message" as const, "message" as const, "pause" as const, "tools" as const),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      what: fc.constantFrom("answer" as const, "call" as const, "call" as const, "fail" as const),
      record: fc.constantFrom(...records),
      isLate: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant("condense" as const),
      count: fc.integer({ min: 1, max: 6 }),
      hasMeta: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant("navigate" as const), to: fc.integer({ min: 0, max: 999 }) }),
  },
);

const isNew = { record: "new", isLate: false } as const;
/** A request that failed had other tools than the ones before and behind it. */
const afterOtherTools: Step[] = [
  { what: "answer", ...isNew },
  { what: "tools" },
  { what: "fail", ...isNew },
  { what: "tools" },
  { what: "message" },
  { what: "answer", ...isNew },
];

test("the context of any event is that which the whole log gives, over condensations, branches, forks and older records", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), async (steps) => {
      const memory = await written(steps);
      // A fork is the beginning of a log.
      for (const length of [memory.events.length, Math.ceil(memory.events.length / 2)]) {
        const part = new MemoryLog(sampleConversation("c"));
        for (const { seq } of memory.events.slice(0, length)) copyTo(part, memory, seq);
        const journal = { ...openMemoryJournal(part, async (write) => write()), lastSeq: async () => length };
        const log = await readReplayLog(journal, "c");
        const reader = new BranchReader({
          journal,
          conversationId: "c",
          navigations: navigationsIn(log),
          lastSeq: length,
        });
        for (const stored of part.events) {
          const found = await readContext(reader, parseStored("c", stored));
          expect(found).toEqual(wholeLogContext(log, stored.seq, stored.id));
        }
      }
    }),
    { numRuns: 25, examples: [[afterOtherTools]] },
  );
});

test("P59: what the context of an event reads does not grow with what lies before and behind it", async () => {
  const agent = { llm: { model: "windowed", max_input_tokens: 7_000 } };
  const output = (command: string): string => `${command}: ${"a line of output ".repeat(20)}`;
  const model = createWindowedModel({ windowTokens: 8_000, turns: 150 });
  await using opened = await openMemoryConversation({ model, agent, output });
  expect(await opened.run("Count.")).toBe("finished");
  const { events } = opened.log;
  expect(events.length).toBeGreaterThan(450);
  let rows = 0;
  const journal = {
    lastSeq: async () => events.length,
    readKinds: async (_id: string, ...range: Parameters<MemoryLog["readKinds"]>) => {
      const read = opened.log.readKinds(...range);
      rows += read.length;
      return read;
    },
  };
  const log = await readReplayLog(journal, "c");
  const reader = new BranchReader({ journal, conversationId: "c", navigations: [], lastSeq: events.length });
  const maxRead = async (from: number, to: number): Promise<number> => {
    let highest = 0;
    for (const stored of events.slice(from, to).filter(({ seq }) => seq % 4 === 0)) {
      rows = 0;
      const found = await readContext(reader, parseStored("c", stored));
      highest = Math.max(highest, rows);
      expect({ ...found, ...noSpend }).toEqual(wholeLogContext(log, stored.seq, stored.id));
      expect(found?.completion_tokens).toBe(20);
    }
    return highest;
  };
  // Several condensations are in each part.
  const early = await maxRead(100, 200);
  const late = await maxRead(events.length - 110, events.length - 10);
  expect(early).toBeGreaterThan(0);
  expect(late).toBeLessThanOrEqual(1.2 * early);
});

async function written(steps: readonly Step[]): Promise<MemoryLog> {
  const memory = new MemoryLog(sampleConversation("c"));
  const journal = openMemoryJournal(memory, async (write) => write());
  let nowMs = 1_700_000_000_000;
  const log = await ConversationLog.open(
    { journal, lease: memory.claim(), clock: { nowMs: () => (nowMs += 1) } },
    memory.row,
  );
  let tools = listings;
  let count = 0;
  for (const one of steps) {
    count += 1;
    switch (one.what) {
      case "message":
        await log.append([message("user", `Question ${count}?`)]);
        break;
      case "pause":
        await log.append([{ body: { kind: "PauseEvent", source: "user" } }]);
        break;
      case "tools":
        tools = tools === listings ? listings.slice(0, 1) : listings;
        break;
      case "condense":
        await condense(log, one.count, one.hasMeta);
        break;
      case "navigate": {
        const target = memory.events[Math.floor((one.to * memory.events.length) / 1_000)];
        await log.append((await decideNavigation(log, target?.id ?? null)).drafts);
        break;
      }
      default:
        await ask(log, one, tools, count);
    }
  }
  return memory;
}

/** A request and what came of it; a late one has not seen what was said last. */
async function ask(
  log: ConversationLog,
  { what, record, isLate }: Extract<Step, { what: "answer" | "call" | "fail" }>,
  tools: readonly ToolListing[],
  count: number,
): Promise<void> {
  const sawSeq = log.state.lastSeq;
  const request = { view: await log.view(), sawSeq, tools, asksForRisk: false, model: "m", cacheKey: "c" };
  const { meta } = new AgentRequests().prepare(request);
  if (isLate) await log.append([message("user", `And ${count}?`)]);
  const came: EventDraft[] =
    what === "answer"
      ? [{ ...message("agent", `Answer ${count}.`), meta: { sawSeq } }]
      : what === "fail"
        ? [
            {
              body: { kind: "ConversationErrorEvent", source: "environment", code: "c", detail: "d" },
              meta: {},
            },
          ]
        : [{ ...called(count, 1), meta: { sawSeq } }, called(count, 2)];
  const { toolsSeq: _where, ...older } = meta.request!;
  const known = record === "new" ? meta : { ...meta, request: older };
  const stored = await log.append(record === "none" ? came : withRequestMeta(came, known));
  if (what !== "call") return;
  for (const { event } of stored)
    if (event.kind === "ActionEvent")
      await log.append([
        {
          body: {
            kind: "ObservationEvent",
            source: "environment",
            tool_name: event.tool_name,
            tool_call_id: event.tool_call_id,
            action_id: event.id!,
            observation: {
              kind: "ThinkObservation",
              content: [{ type: "text", text: "Seen.", cache_prompt: false }],
              is_error: false,
            },
          },
        },
      ]);
}

async function condense(log: ConversationLog, count: number, hasMeta: boolean): Promise<void> {
  const view = await log.view();
  const leaving = condensedView(view).slice(0, count);
  if (leaving.length === 0) return;
  const ids = leaving.map(({ event }) => idInLog(event));
  const body = {
    kind: "Condensation" as const,
    source: "environment" as const,
    forgotten_event_ids: ids,
    summary: "What was.",
    summary_offset: 0,
    llm_response_id: "none",
  };
  const hash = new RequestHash();
  const request = {
    model: "m",
    messages: hash.messages(condenserMessages(view, ids, 100)),
    tools: hash.tools([]),
    estimatedTokens: 10,
  };
  await log.append(
    await condensedDrafts({ body, ...(hasMeta ? { meta: { request, shownCharacters: 100 } } : {}) }, log),
  );
}

function message(source: "user" | "agent", text: string): EventDraft {
  const role = source === "user" ? "user" : "assistant";
  const content = [{ type: "text" as const, text, cache_prompt: false }];
  return { body: { kind: "MessageEvent", source, llm_message: { role, content, thinking_blocks: [] } } };
}

function called(count: number, index: number): EventDraft {
  const id = `call-${count}-${index}`;
  return {
    body: {
      kind: "ActionEvent",
      source: "agent",
      thought: [],
      thinking_blocks: [],
      action: { kind: "TerminalAction", command: id },
      tool_name: "terminal",
      tool_call_id: id,
      tool_call: { id, name: "terminal", arguments: "{}", origin: "completion" },
      llm_response_id: `answer-${count}`,
      security_risk: "LOW",
    },
  };
}

function copyTo(part: MemoryLog, memory: MemoryLog, seq: number): void {
  const { id, json, meta } = memory.events[seq - 1]!;
  const { kind, source } = JSON.parse(json) as { kind: string; source: string };
  const event = { id, json, meta, kind, source, timestampMicros: seq, text: null };
  part.write(part.claim(), { expectedSeq: seq - 1, events: [event] });
}
