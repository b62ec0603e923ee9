import { beforeAll, expect, test } from "vitest";
import { parseStored } from "../../events/parse-stored.ts";
import type { EventDraft } from "../../events/event-draft.ts";
import { sampleConversation } from "../../journal/sample-events.ts";
import { MemoryLog, openMemoryJournal } from "../../testing/interleaving/memory-journal.ts";
import { ConversationLog } from "../conversation-log.ts";
import { stateUpdate, statusUpdate } from "../../events/state-update.ts";
import { initialState } from "./conversation-state.ts";
import { applyEvent, foldedKinds } from "./fold.ts";
import { PastStates } from "./past-states.ts";

const isFolded = new Set<string>(foldedKinds);

let memory: MemoryLog;
/** Some thousand events of runs that ask, act and pay. */
beforeAll(async () => {
  memory = new MemoryLog(sampleConversation("c"));
  const journal = openMemoryJournal(memory, async (write) => write());
  let nowMs = 1_700_000_000_000;
  const log = await ConversationLog.open(
    { journal, lease: memory.claim(), clock: { nowMs: () => (nowMs += 1) } },
    memory.row,
  );
  for (let run = 0; run < 330; run += 1) {
    await log.append([
      { ...message("user", `Do ${run}.`), meta: { wantsRun: true } },
      statusUpdate("running"),
    ]);
    const sawSeq = log.state.lastSeq;
    const asked = await log.append([
      { ...called(run), meta: { sawSeq, gate: run % 2 === 0 ? "approved" : "awaiting" } },
      stateUpdate("stats", { usage_to_metrics: { default: { accumulated_cost: run / 100 } } }),
    ]);
    await log.append([{ body: { kind: "PauseEvent", source: "user" } }]);
    const body = {
      kind: "UserRejectObservation" as const,
      source: "environment" as const,
      tool_name: "terminal",
      tool_call_id: `call-${run}`,
      action_id: asked[0]!.record.id,
      rejection_reason: "no",
    };
    await log.append([
      { body },
      { ...message("agent", "As you like."), meta: { sawSeq } },
      statusUpdate("finished"),
    ]);
  }
});

function readerOf(hasCheckpoints: boolean) {
  const reads = { rows: 0 };
  const journal = {
    readKinds: async (_id: string, ...range: Parameters<MemoryLog["readKinds"]>) => {
      const rows = memory.readKinds(...range);
      reads.rows += rows.length;
      return hasCheckpoints ? rows : rows.map((row) => ({ ...row, meta: withoutCheckpoint(row.meta) }));
    },
  };
  return { reads, states: new PastStates(journal) };
}

function withoutCheckpoint(meta: string | null): string | null {
  if (meta === null) return null;
  const { checkpoint: _, ...rest } = JSON.parse(meta) as Record<string, unknown>;
  return JSON.stringify(rest);
}

test("S18: how a conversation stood is what the fold of its log says, with checkpoints and without", async () => {
  expect(memory.events.length).toBeGreaterThan(2_600);
  const withThem = readerOf(true);
  const without = readerOf(false);
  const folded = initialState();
  for (const stored of memory.events) {
    const parsed = parseStored("c", stored);
    if (isFolded.has(parsed.event.kind)) applyEvent(folded, parsed);
    if (stored.seq % 97 !== 0 && stored.seq !== memory.events.length) continue;
    // The time of the last event is told by that event.
    const expected = { ...folded, lastMicros: expect.any(Number) as number };
    expect(await withThem.states.at(memory.row, stored.seq)).toEqual(expected);
    expect(await without.states.at(memory.row, stored.seq)).toEqual({ ...expected, checkpointSeq: 0 });
  }
  expect(await withThem.states.at(memory.row, 0)).toEqual(initialState());
});

test("S18: what that reads does not grow with the log, and a log without checkpoints is folded once", async () => {
  const last = memory.events.length;
  const withThem = readerOf(true);
  await withThem.states.at(memory.row, last);
  expect(withThem.reads.rows).toBeLessThan(2_100);
  const without = readerOf(false);
  await without.states.at(memory.row, last);
  const { rows } = without.reads;
  await without.states.at(memory.row, last - 1_500);
  expect(without.reads.rows - rows).toBeLessThan(1_100);
});

function message(source: "user" | "agent", text: string): EventDraft {
  const role = source === "user" ? "user" : "assistant";
  const content = [{ type: "text" as const, text, cache_prompt: false }];
  return { body: { kind: "MessageEvent", source, llm_message: { role, content, thinking_blocks: [] } } };
}

function called(run: number): EventDraft {
  const id = `call-${run}`;
  return {
    body: {
      kind: "ActionEvent",
      source: "agent",
      thought: [],
      thinking_blocks: [],
      action: { kind: "TerminalAction", command: "ls" },
      tool_name: "terminal",
      tool_call_id: id,
      tool_call: { id, name: "terminal", arguments: "{}", origin: "completion" },
      llm_response_id: `answer-${run}`,
      security_risk: "LOW",
    },
  };
}
