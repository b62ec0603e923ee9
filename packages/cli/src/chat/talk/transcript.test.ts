import type { FollowItem } from "@convoke/client";
import { SampleLog } from "@convoke/client/testing";
import { foldRows, viewOf, type UnknownRecord } from "@convoke/client/view";
import { expect, test } from "vitest";
import { createTheme } from "../screen/theme.ts";
import { Transcript } from "./transcript.ts";

const theme = createTheme({ hasColour: false, isAscii: false, mayMove: false });

function open(status = "running") {
  const transcript = new Transcript(viewOf({ execution_status: status }), {
    theme,
    folder: "/w",
    isVerbose: false,
  });
  let seq = 0;
  return {
    transcript,
    event: (event: UnknownRecord): void =>
      transcript.take({ type: "event", event, json: "", trimmed: null } as unknown as FollowItem),
    delta: (text: string, type = "text"): void =>
      transcript.take({
        type: "signal",
        frame: { kind: "AnswerDelta", answer_id: "a", seq: (seq += 1), text, item: { type, index: 0 } },
      }),
    signal: (frame: UnknownRecord): void => transcript.take({ type: "signal", frame }),
  };
}

/** The events of a log that came since the last call. */
function reader(log: SampleLog) {
  let read = 0;
  return () => log.events.slice(read, (read = log.events.length));
}

test("an answer comes out line by line as it is written, and its event adds only what is missing", () => {
  const { transcript, event, delta } = open();
  const log = new SampleLog();
  delta("I look ");
  expect(transcript.finished()).toEqual([]);
  expect(transcript.unfinished()).toEqual({ type: "text", text: "● I look " });
  delta("first.\n\n```js\nlet a;\n```\nThen **I**");
  expect(transcript.finished()).toEqual(["● I look first.", "", "  let a;"]);
  expect(transcript.unfinished()?.text).toBe("  Then **I**");
  log.message("I look first.\n\n```js\nlet a;\n```\nThen **I** run it.", "agent", { llm_response_id: "r" });
  event(log.events[0]!);
  expect(transcript.finished()).toEqual(["  Then I run it."]);
  expect(transcript.unfinished()).toBeNull();
});

test("what the model thought comes out once, before the text that it writes", () => {
  const { transcript, event, delta } = open();
  const log = new SampleLog();
  delta("Loops\nbegin at 0.", "reasoning");
  expect(transcript.finished()).toEqual([]);
  delta("I look.\nThere");
  expect(transcript.finished()).toEqual(["✻ Loops … (ctrl-o)", "● I look."]);
  log.message("I look.\nThere.", "agent", { llm_response_id: "r" });
  const { llm_message: message, ...rest } = log.events[0]!;
  event({ ...rest, llm_message: { ...(message as object), reasoning_content: "Loops\nbegin at 0." } });
  expect(transcript.finished()).toEqual(["  There."]);
  expect(transcript.cutRows).toHaveLength(1);
});

test("when the model starts again, what it wrote stays and the new text is whole", () => {
  const { transcript, event, delta, signal } = open();
  const log = new SampleLog();
  delta("First try.\nmore");
  expect(transcript.finished()).toEqual(["● First try."]);
  signal({ kind: "AnswerEnd", answer_id: "a", seq: 2, outcome: "void" });
  signal({
    kind: "AnswerDelta",
    answer_id: "b",
    seq: 1,
    text: "Second.\n",
    item: { type: "text", index: 0 },
  });
  expect(transcript.finished()).toEqual(["· the model started again", "● Second."]);
  log.message("Second.\nDone.", "agent", { llm_response_id: "r" });
  event(log.events[0]!);
  expect(transcript.finished()).toEqual(["  Done."]);
});

test("a call stays below while it runs, with its newest output, and comes out once with its outcome", () => {
  const { transcript, event, signal } = open();
  const log = new SampleLog();
  const next = reader(log);
  const thought = [{ type: "text", text: "I test." }];
  const id = log.action("terminal", { kind: "TerminalAction", command: "npm test" }, { thought });
  next().forEach(event);
  signal({ kind: "ToolProgress", action_id: id, seq: 1, text: "# pass 1\n" });
  expect(transcript.finished()).toEqual(["● I test."]);
  expect(transcript.openRows().map((row) => row.id)).toEqual([id]);
  expect(transcript.progress.get(id)).toBe("# pass 1\n");
  log.result(id, { kind: "TerminalObservation", content: [{ type: "text", text: "a\nb" }], exit_code: 1 });
  next().forEach(event);
  expect(transcript.finished()).toEqual([
    "  $ npm test                                        ✗ exit 1, 2 lines",
    "    a",
    "    b",
  ]);
  expect([transcript.openRows(), transcript.finished(), transcript.progress.size]).toEqual([[], [], 0]);
});

test("calls of one answer come out in the order of the log, whichever ends first", () => {
  const { transcript, event } = open();
  const log = new SampleLog();
  const next = reader(log);
  const one = log.action("terminal", { kind: "TerminalAction", command: "one" });
  const two = log.action("terminal", { kind: "TerminalAction", command: "two" });
  log.result(two, { kind: "TerminalObservation", content: [], exit_code: 0 });
  next().forEach(event);
  expect(transcript.finished()).toEqual([]);
  log.result(one, { kind: "TerminalObservation", content: [], exit_code: 0 });
  next().forEach(event);
  expect(transcript.finished().map((line) => line.slice(0, 7))).toEqual(["  $ one", "  $ two"]);
});

test("P44: a message that was sent during a run waits below until it is read, or is gone when it is taken back", () => {
  const { transcript, event, signal } = open();
  const log = new SampleLog();
  const next = reader(log);
  const withQueue = (version: number, queued: string[]): void =>
    signal({
      kind: "Standing",
      version,
      last_event_id: log.lastId,
      execution_status: "running",
      open_actions: [],
      queued,
    });
  const first = log.message("also this");
  const second = log.message("not this");
  next().forEach(event);
  withQueue(1, [first, second]);
  expect(transcript.finished()).toEqual([]);
  expect(transcript.queuedMessages()).toEqual([
    { id: first, text: "also this" },
    { id: second, text: "not this" },
  ]);
  log.add({ kind: "Condensation", forgotten_event_ids: [second] });
  next().forEach(event);
  withQueue(2, [first]);
  expect(transcript.finished()).toEqual([]);
  withQueue(3, []);
  expect(transcript.finished()).toEqual(["", "> also this"]);
  expect(transcript.queuedMessages()).toEqual([]);
});

test("a call without an outcome comes out when nothing is awaited any more, and blocks nothing", () => {
  const { transcript, event } = open("paused");
  const log = new SampleLog();
  log.action("terminal", { kind: "TerminalAction", command: "sleep 9" });
  log.message("and now?");
  log.events.forEach(event);
  expect(transcript.finished()).toEqual([]);
  expect(transcript.finished(true)).toEqual(["  $ sleep 9  (no outcome)", "", "> and now?"]);
});

test("the rows are those of the page, and of a long log the newest come out", () => {
  const { transcript } = open("finished");
  const log = new SampleLog();
  for (let index = 0; index < 30; index += 1) log.command(`echo ${index}`, "x");
  expect(transcript.begin(log.events, 4)).toBe(26);
  expect(transcript.finished().map((line) => line.trim().split(/\s+/u).slice(1, 3).join(" "))).toEqual([
    "echo 26",
    "echo 27",
    "echo 28",
    "echo 29",
  ]);
  expect(transcript.fold.rows()).toEqual(foldRows(log.events));
});

test("a difference is shown with what changed, and its size in the place of more than 60 lines", () => {
  const { transcript } = open("finished");
  const log = new SampleLog();
  const edit = (path: string, before: string, after: string): void => {
    const id = log.action("file_editor", { kind: "FileEditorAction", command: "str_replace", path });
    const texts = { old_content: before, new_content: after, prev_exist: true };
    log.result(
      id,
      { kind: "FileEditorObservation", command: "str_replace", path, content: [], ...texts },
      "file_editor",
    );
  };
  edit("/w/a.js", "let i = 1;\n", "let i = 0;\n");
  edit("/w/b.js", "", "x\n".repeat(80));
  transcript.begin(log.events, 9);
  expect(transcript.finished()).toEqual([
    "  ~ a.js  +1 -1                                     ✓",
    "    - let i = 1;",
    "    + let i = 0;",
    "  ~ b.js  +80 -0                                    ✓",
  ]);
});

test("Q11, S37: nothing that an agent says or prints drives the terminal or hides", () => {
  const { transcript, event, delta } = open();
  const log = new SampleLog();
  const dirty = "ls\u202e\u009b2J\u001b[2J";
  delta(`${dirty}\n${dirty}`);
  const lines = [...transcript.finished(), transcript.unfinished()!.text];
  log.message(dirty, "agent");
  const id = log.action(
    dirty,
    { kind: "TerminalAction", command: dirty },
    { thought: [{ type: "text", text: dirty }] },
  );
  log.result(id, { kind: "TerminalObservation", content: [{ type: "text", text: dirty }], exit_code: 1 });
  log.add({ kind: "ConversationErrorEvent", code: dirty, detail: dirty });
  log.message(dirty);
  log.state("title", dirty);
  log.events.forEach(event);
  lines.push(...transcript.finished(true));
  // oxlint-disable-next-line no-control-regex -- what must not be there
  expect(lines.join("\n")).not.toMatch(/[\u001b\u0080-\u009f\u202e]/u);
  expect(lines.join("\n").split("ls<U+202E><U+009B>2J").length).toBeGreaterThan(6);
});
