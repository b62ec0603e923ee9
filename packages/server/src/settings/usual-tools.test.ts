import { expect, test } from "vitest";
import { usualToolsFor, usualToolsOf } from "./usual-tools.ts";

const all = ["edit", "file_editor", "list_directory", "read_file", "task_tracker", "terminal", "write_file"];
const gemini = ["terminal", "read_file", "write_file", "edit", "list_directory", "task_tracker"];

test.each([
  "gemini/gemini-3-pro",
  "openrouter/google/gemini-2.5-flash",
  "Gemini-3-Flash",
  "vertex_ai/gemini-3-pro",
])("issue 11.3: %s has the file tools that Gemini models know", (model) => {
  expect(usualToolsFor(model)).toEqual(gemini);
  expect(usualToolsOf(all, model).map(({ name }) => name)).toEqual(gemini);
});

test.each(["anthropic/claude-sonnet-4-5", "openai/gpt-5", "mygemini", "", null, 7])(
  "issue 11.3: %s has the editor",
  (model) => {
    expect(usualToolsFor(model)).toEqual(["terminal", "file_editor", "task_tracker"]);
  },
);

test("a browser is among the default tools where one is installed", () => {
  const names = usualToolsOf(["browser_tool_set", "terminal"]).map(({ name }) => name);
  expect(names).toEqual(["terminal", "browser_tool_set"]);
});

test("a tool host without them has the editor", () => {
  const names = usualToolsOf(["file_editor", "terminal"], "gemini/gemini-3-pro").map(({ name }) => name);
  expect(names).toEqual(["terminal", "file_editor"]);
});
