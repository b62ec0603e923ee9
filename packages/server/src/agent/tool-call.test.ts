import { createValidator } from "@convoke/protocol/validate";
import type { ToolListing } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { createCallReader } from "./tool-call.ts";

function listing(name: string, actionKind: string, isReadOnly = false): ToolListing {
  return {
    name,
    actionKind,
    isReadOnly,
    definition: {
      kind: "ThinkTool",
      title: name,
      description: "",
      action_type: actionKind,
    },
  };
}

const tools = [
  listing("terminal", "TerminalAction"),
  listing("file_editor", "FileEditorAction"),
  listing("task_tracker", "TaskTrackerAction"),
  listing("think", "ThinkAction", true),
];
const read = createCallReader(tools, createValidator());
const call = (name: string, args: unknown) =>
  read({
    id: "c",
    name,
    arguments: typeof args === "string" ? args : JSON.stringify(args),
    origin: "completion",
  });

test("risk and summary are removed from the action and stored beside it", () => {
  expect(call("terminal", { command: "ls", security_risk: "LOW", summary: "list files" })).toMatchObject({
    ok: true,
    action: { kind: "TerminalAction", command: "ls", is_input: false, reset: false },
    predictedRisk: "LOW",
    summary: "list files",
  });
});

test("a missing summary is made from the call; nulls are dropped", () => {
  expect(call("terminal", { command: "ls", timeout: null })).toMatchObject({
    summary: 'terminal: {"command":"ls"}',
  });
});

test.each([
  ["execute_bash", { command: "ls" }, { kind: "TerminalAction", command: "ls" }],
  ["git", { command: "status" }, { kind: "TerminalAction", command: "git status" }],
  ["git", { command: "git status" }, { kind: "TerminalAction", command: "git status" }],
  ["ls", {}, { kind: "TerminalAction", command: "ls" }],
  ["terminal </parameter", { command: "ls" }, { kind: "TerminalAction", command: "ls" }],
  ["str_replace_editor", { command: "view", path: "/a" }, { kind: "FileEditorAction", command: "view" }],
  [
    "file_editor",
    { path: "/a", old_str: "x", new_str: "y" },
    { kind: "FileEditorAction", command: "str_replace" },
  ],
  ["file_editor", { path: "/a", file_text: "" }, { kind: "FileEditorAction", command: "create" }],
  ["file_editor", { path: "/a" }, { kind: "FileEditorAction", command: "view" }],
])("tools 20.1.6: %s %j is understood", (name, args, action) => {
  expect(call(name, args)).toMatchObject({ ok: true, action });
});

test("an unknown grep becomes a safe shell search", () => {
  expect(call("grep", { pattern: "it's", path: "-x" })).toMatchObject({
    action: { command: `grep -rniE -e 'it'\\''s' -- '-x'` },
  });
});

test("tools 20.1.7: lists sent as text are decoded, text sent as a list is joined", () => {
  expect(call("task_tracker", { command: "plan", task_list: '[{"title":"a"}] trailing' })).toMatchObject({
    action: { task_list: [{ title: "a", notes: "", status: "todo" }] },
  });
  expect(call("terminal", { command: ["ls", " -l"] })).toMatchObject({ action: { command: "ls -l" } });
});

test("bare control characters inside strings are repaired", () => {
  expect(call("think", '{"thought":"a\nb"}')).toMatchObject({ ok: true, action: { thought: "a\nb" } });
});

test.each([
  ["lists", (levels: number) => `{"thought":${"[".repeat(levels)}${"]".repeat(levels)}}`],
  ["objects", (levels: number) => `${'{"thought":'.repeat(levels)}1${"}".repeat(levels)}`],
])("arguments of deeply nested %s are refused in words", (_, nested) => {
  for (const levels of [500, 5_000, 100_000]) {
    expect(call("think", nested(levels))).toMatchObject({
      ok: false,
      error: expect.stringMatching(/nested more than 200 levels deep|not valid JSON/u) as string,
    });
  }
  const text = { command: "plan", task_list: "[".repeat(5_000) + "]".repeat(5_000) };
  expect(call("task_tracker", text)).toMatchObject({ ok: false });
});

test("tools 20.1.5: mistakes name the parameter and never its value", () => {
  const bad = call("terminal", { command: "ls", secret_option: "hunter2-value" });
  expect(bad).toMatchObject({ ok: false });
  const { error } = bad as { error: string };
  expect(error).toContain("secret_option");
  expect(error).not.toContain("hunter2");
});

test.each([
  ["nothing", {}, "There is no tool"],
  ["think", "{oops", "not valid JSON"],
  ["terminal", { command: "ls", security_risk: "EXTREME" }, "security_risk"],
  ["file_editor", { command: "view" }, "path"],
])("tools 20.1.5: %s %j is refused with what to change", (name, args, words) => {
  const result = call(name, args);
  expect(result).toMatchObject({ ok: false });
  expect((result as { error: string }).error).toContain(words);
});
