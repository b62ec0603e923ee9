import { readFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asRecord, type UnknownRecord } from "./unknown-record.ts";
import { SampleLog } from "../testing/sample-log.ts";
import { foldRows, RowFold } from "./row-fold.ts";
import type { ActionRow, Row } from "./row.ts";

/** A log with answers, withdrawals, repeated ids and navigations. */
function eventfulLog(): SampleLog {
  const log = new SampleLog();
  log.add({ kind: "SystemPromptEvent", source: "agent", system_prompt: { text: "You are." }, tools: [] });
  log.message("Repair it");
  log.state("execution_status", "running");
  log.command("npm test", "fail 1", 1);
  const twice = log.action("terminal", { kind: "TerminalAction", command: "a" }, { tool_call_id: "same" });
  log.add({ kind: "AgentErrorEvent", tool_call_id: "same", tool_name: "terminal", error: "cut off" });
  const again = log.action("terminal", { kind: "TerminalAction", command: "b" }, { tool_call_id: "same" });
  log.add({ kind: "AgentErrorEvent", tool_call_id: "same", tool_name: "terminal", error: "lost" });
  const rejected = log.action("terminal", { kind: "TerminalAction", command: "rm -r /" });
  log.add({
    kind: "UserRejectObservation",
    action_id: rejected,
    rejection_reason: "No.",
    rejection_source: "user",
  });
  const task = log.action("task", { kind: "TaskAction", prompt: "look" });
  log.state("task", { task_id: "t1", subagent: "general", action_id: task, status: "running" });
  log.state("task", { task_id: "t1", subagent: "general", action_id: task, status: "finished" });
  const early = log.message("never mind");
  log.add({ kind: "Condensation", forgotten_event_ids: [early], llm_response_id: "" });
  log.add({
    kind: "Condensation",
    forgotten_event_ids: [twice, again],
    summary: "It tried.",
    llm_response_id: "r",
  });
  log.add({ kind: "CondensationSummaryEvent", summary: "It tried." });
  log.state("leaf_event_id", twice);
  log.add({ kind: "SomethingNew", source: "agent", fields: { a: 1 } });
  log.add({
    kind: "HookExecutionEvent",
    hook_event_type: "Stop",
    hook_command: "x",
    success: false,
    blocked: true,
    exit_code: 2,
  });
  log.state("warning", { code: "no_repository", detail: "It works in the folder itself." });
  log.add({
    kind: "ConversationErrorEvent",
    source: "environment",
    code: "LLMTimeoutError",
    detail: "Silent.",
  });
  log.add({ kind: "PauseEvent", source: "user" });
  return log;
}

const actionsOf = (rows: readonly Row[]): ActionRow[] => rows.filter((row) => row.type === "action");

describe("rows", () => {
  const log = eventfulLog();
  const whole = foldRows(log.events);

  test("J13: are the same whatever the order and the pieces in which events come, and however often", () => {
    const arrivals = fc.shuffledSubarray(log.events, { minLength: log.events.length });
    fc.assert(
      fc.property(
        arrivals,
        fc.array(fc.nat({ max: 6 })),
        fc.subarray(log.events),
        (events, sizes, repeated) => {
          const fold = new RowFold();
          let from = 0;
          for (const size of sizes) {
            fold.add(events.slice(from, from + size));
            from += size;
          }
          fold.add(events.slice(from));
          fold.add(repeated);
          expect(fold.rows()).toEqual(whole);
        },
      ),
    );
  });

  test("J8: of older pages put in front are those of the whole log, and rows that did not change stay the same objects", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), (pageSize) => {
        const fold = new RowFold();
        let before: readonly Row[] = [];
        for (let end = log.events.length; end > 0; end -= pageSize) {
          fold.add(log.events.slice(Math.max(0, end - pageSize), end));
          const now = fold.rows();
          expect(now.slice(-before.length || now.length).filter((row) => before.includes(row)).length).toBe(
            before.filter((row) => now.includes(row)).length,
          );
          expect(now.map(({ id }) => id)).toEqual([...new Set(now.map(({ id }) => id))].toSorted());
          before = now;
        }
        expect(before).toEqual(whole);
      }),
    );
  });

  test("U8: what was let go of at either end and is read again is what it was", () => {
    const ids = whole.map(({ id }) => id);
    const step = fc.tuple(fc.constantFrom("before", "after"), fc.nat({ max: ids.length - 1 }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), (steps) => {
        let fold = foldOf(log.events);
        for (const [side, index] of steps) {
          const id = ids[index]!;
          if (side === "before") fold.dropBefore(id);
          else fold.dropAfter(id);
          const left = fold.rows().map((row) => row.id);
          expect(left).toEqual(ids.filter((other) => left.includes(other)));
          expect(left.every((other) => (side === "before" ? other >= id : other <= id))).toBe(true);
          expect(fold.rows()).toEqual(whole.filter((row) => left.includes(row.id)));
          const copy = fold.copy();
          const again = foldOf(log.events);
          copy.add(log.events);
          expect(copy.rows()).toEqual(again.rows());
          if (fold.rows().length === 0) fold = again;
        }
      }),
    );
  });

  test("an error answers the nearest call with its id before it", () => {
    const errors = actionsOf(whole).flatMap(({ action, outcome }) =>
      outcome?.type === "failed" ? [[action?.["command"], outcome.error]] : [],
    );
    expect(errors).toEqual([
      ["a", "cut off"],
      ["b", "lost"],
    ]);
  });

  test("every action has its one answer, and a task its newest state", () => {
    expect(actionsOf(whole).map(({ outcome, task }) => task?.status ?? outcome?.type)).toEqual([
      "result",
      "failed",
      "failed",
      "rejected",
      "finished",
    ]);
  });

  test("a message that was taken back is marked; the event that says so has no row", () => {
    expect(
      whole.filter((row) => row.type === "message").map(({ text, isTakenBack }) => [text, isTakenBack]),
    ).toEqual([
      ["Repair it", false],
      ["never mind", true],
    ]);
    expect(whole.filter((row) => row.type === "condensation")).toMatchObject([
      { forgotten: 2, summary: "It tried." },
    ]);
  });

  test("a kind that nobody knows is a row with its event", () => {
    expect(whole.find((row) => row.type === "unknown")).toMatchObject({
      kind: "SomethingNew",
      event: { fields: { a: 1 } },
    });
  });

  test("a result of which the server sent a part says so", () => {
    const events = log.events.map((event) =>
      event["kind"] === "ObservationEvent" ? { ...event, is_cut: true } : event,
    );
    const [first] = actionsOf(foldRows(events));
    expect(first?.outcome).toMatchObject({ type: "result", isCut: true });
  });

  test("golden: every kind of the contract is read; state updates without news and summaries have no row", () => {
    const file = path.resolve(import.meta.dirname, "../../../protocol/src/golden/events.json");
    const events = (JSON.parse(readFileSync(file, "utf8")) as unknown[]).map(
      (event) => asRecord(event) as UnknownRecord,
    );
    const rows = foldRows(events);
    expect(rows.map(({ type }) => type)).toMatchSnapshot();
  });
});

function foldOf(events: readonly UnknownRecord[]): RowFold {
  const fold = new RowFold();
  fold.add(events);
  return fold;
}
