import { expect, test } from "vitest";
import { resolveToolName } from "./tool-name.ts";

const names = [
  "terminal",
  "file_editor",
  "task_tracker",
  "think",
  "tracker__create-issue",
  "Search",
  "search",
];

test.each([
  ["functions.terminal", "terminal"],
  ["functions.terminal:0", "terminal"],
  ["default_api:terminal", "terminal"],
  ["tools/terminal", "terminal"],
  ["Terminal", "terminal"],
  ["TERMINAL", "terminal"],
  [" terminal ", "terminal"],
  ["TerminalTool", "terminal"],
  ["functions.Terminal", "terminal"],
  ["functions.bash", "terminal"],
  ["Bash", "terminal"],
  ["ExecuteBash", "terminal"],
  ["execute-bash", "terminal"],
  ["terminal<|channel|>commentary", "terminal"],
  ["fileEditor", "file_editor"],
  ["FileEditor", "file_editor"],
  ["file-editor", "file_editor"],
  ["functions.str_replace_editor", "file_editor"],
  ["tracker__create_issue", "tracker__create-issue"],
  ["Search", "Search"],
  ["search", "search"],
])("K5: %s finds %s", (requested, found) => {
  expect(resolveToolName(requested, { command: "x" }, names)).toMatchObject({ name: found });
});

test.each([
  "SEARCH",
  "functions.SEARCH",
  "functions.",
  "",
  "terminally",
  "unknown",
  "functions",
  "tool",
  "...",
])("K5: %j finds none, or more than one", (requested) => {
  expect(resolveToolName(requested, { command: "x" }, names)).toBeNull();
});
