import { expect, test } from "vitest";
import { SampleLog } from "../testing/sample-log.ts";
import { foldTaskList } from "./fold-task-list.ts";
import { foldTurns, lastWord, numbersOf } from "./fold-turns.ts";
import { findOffBranchRows } from "./off-branch-rows.ts";
import { foldRows } from "./row-fold.ts";

function finish(log: SampleLog, message: string): void {
  const id = log.action("finish", { kind: "FinishAction", message });
  log.result(id, { kind: "FinishObservation", content: [] }, "finish");
}

test("a turn is a message and what came of it; one sent meanwhile belongs to the turn it came into", () => {
  const log = new SampleLog();
  log.add({ kind: "SystemPromptEvent", system_prompt: { text: "You are." }, tools: [] });
  log.message("first");
  log.command("ls", "a");
  log.message("and this");
  log.command("false", "", 1);
  finish(log, "done");
  log.message("second");
  log.message("I see.", "agent");
  log.message("third");
  const turns = foldTurns(foldRows(log.events));
  expect(turns.map(({ message, rows }) => [message?.text ?? null, rows.length])).toEqual([
    [null, 1],
    ["first", 4],
    ["second", 1],
    ["third", 0],
  ]);
  expect(numbersOf(turns[1]!)).toMatchObject({ steps: 2, failed: 1, files: 0 });
  expect(lastWord(turns[1]!)).toMatchObject({ type: "action", tool: "finish" });
  expect(lastWord(turns[2]!)).toMatchObject({ type: "answer", text: "I see." });
});

test("files that a turn changed are counted once each", () => {
  const log = new SampleLog();
  log.message("go");
  for (const path of ["/w/a.js", "/w/b.js", "/w/a.js"]) {
    const id = log.action("file_editor", {
      kind: "FileEditorAction",
      command: "create",
      path,
      file_text: "1\n",
    });
    const texts = { old_content: null, new_content: "1\n", prev_exist: false };
    log.result(
      id,
      { kind: "FileEditorObservation", command: "create", path, content: [], ...texts },
      "file_editor",
    );
  }
  const [turn] = foldTurns(foldRows(log.events));
  expect(numbersOf(turn!)).toMatchObject({ steps: 3, files: 2 });
});

test("what was left by going back is off the path, until somebody goes back to it", () => {
  const log = new SampleLog();
  const first = log.message("first");
  const left = log.message("left", "agent");
  log.state("leaf_event_id", first);
  const other = log.message("other", "agent");
  expect([...findOffBranchRows(foldRows(log.events))]).toEqual([left]);
  const back = log.state("leaf_event_id", left);
  const off = findOffBranchRows(foldRows(log.events));
  expect(off.has(other)).toBe(true);
  expect(off.has(left)).toBe(false);
  expect(off.has(back)).toBe(false);
  log.state("leaf_event_id", null);
  expect(findOffBranchRows(foldRows(log.events)).has(first)).toBe(true);
});

test("the task list is the newest plan", () => {
  const log = new SampleLog();
  const plan = (...titles: string[]) =>
    log.action("task_tracker", {
      kind: "TaskTrackerAction",
      command: "plan",
      task_list: titles.map((title) => ({ title, status: "todo", notes: "" })),
    });
  expect(foldTaskList(foldRows(log.events))).toEqual([]);
  plan("a");
  plan("a", "b");
  log.action("task_tracker", { kind: "TaskTrackerAction", command: "view", task_list: [] });
  expect(foldTaskList(foldRows(log.events)).map(({ title }) => title)).toEqual(["a", "b"]);
});
