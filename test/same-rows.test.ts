import { createTheme } from "@convoke/cli/theme";
import { Transcript } from "@convoke/cli/transcript";
import type { FollowItem } from "@convoke/client";
import { SampleLog } from "@convoke/client/testing";
import { emptyView, RowFold, type Row } from "@convoke/client/view";
import { OpenLog } from "@convoke/web/open-log";
import { PlayedLog } from "@convoke/web/played-log";
import { expect, test } from "vitest";

/** A log with rows of every kind that a person meets. */
function variedLog(): SampleLog {
  const log = new SampleLog();
  log.add({ kind: "SystemPromptEvent", system_prompt: { text: "You are." }, tools: [] });
  log.message("please repair it");
  log.message("Be brief.", "environment");
  log.command("npm test", "# fail 1", 1);
  const edit = log.action("file_editor", {
    kind: "FileEditorAction",
    command: "str_replace",
    path: "/w/a.js",
  });
  const texts = { old_content: "1\n", new_content: "2\n", prev_exist: true };
  log.result(edit, { kind: "FileEditorObservation", path: "/w/a.js", content: [], ...texts }, "file_editor");
  const task = log.action("task", { kind: "TaskAction", prompt: "look" });
  log.state("task", { task_id: "t1", subagent: "general", action_id: task, status: "running" });
  const refused = log.action("terminal", { kind: "TerminalAction", command: "rm -r /" });
  log.add({ kind: "UserRejectObservation", action_id: refused, rejection_reason: "no" });
  log.state("warning", { code: "w", detail: "Look out." });
  const back = log.message("not this");
  log.add({ kind: "Condensation", forgotten_event_ids: [back] });
  log.add({ kind: "InterruptEvent" });
  log.add({ kind: "ConversationErrorEvent", code: "LLMError", detail: "no model" });
  log.state("leaf_event_id", edit);
  log.message("And so it is.", "agent", { llm_response_id: "r" });
  log.add({ kind: "NewerThanThisClient" });
  return log;
}

/** What the page shows of a log, of which it reads one part as a page and follows the rest. */
async function rowsOfPage(log: SampleLog, readFirst: number): Promise<readonly Row[]> {
  const played = new PlayedLog(log.events.slice(0, readFirst));
  const open = new OpenLog("c", {
    source: played.source,
    nextFrame: (callback) => queueMicrotask(callback),
    now: () => 0,
    onFailure: (error) => expect.unreachable(String(error)),
  });
  open.show();
  await expect.poll(() => open.view.snapshot().phase).toBe("ready");
  played.append(...log.events.slice(readFirst));
  await expect.poll(() => open.view.snapshot().lastEventId).toBe(log.lastId);
  const { rows } = open.view.snapshot();
  open.hide();
  return rows;
}

function rowsOfChat(log: SampleLog, readFirst: number): readonly Row[] {
  const theme = createTheme({ hasColour: false, isAscii: false, mayMove: false });
  const transcript = new Transcript(emptyView, { theme, folder: "/w", isVerbose: false });
  transcript.begin(log.events.slice(0, readFirst), Number.POSITIVE_INFINITY);
  for (const event of log.events.slice(readFirst))
    transcript.take({ type: "event", event, json: "", trimmed: null } as unknown as FollowItem);
  return transcript.fold.rows();
}

test("page and terminal show the same rows of a log, however much of it they follow", async () => {
  const log = variedLog();
  const whole = new RowFold();
  whole.add(log.events);
  const types = new Set(whole.rows().map(({ type }) => type));
  expect([...types].sort()).toEqual([
    "action",
    "answer",
    "branch",
    "error",
    "halt",
    "hint",
    "message",
    "prompt",
    "unknown",
    "warning",
  ]);
  for (const readFirst of [1, 6, log.events.length - 1]) {
    expect(await rowsOfPage(log, readFirst)).toEqual(whole.rows());
    expect(rowsOfChat(log, readFirst)).toEqual(whole.rows());
  }
});
