import { createValidator } from "@convoke/protocol/validate";
import type { ToolListing } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { createCallReader } from "./tool-call.ts";

function reader(names: readonly string[]) {
  const tools: ToolListing[] = names.map((name) => ({
    name,
    actionKind: name === "edit" ? "EditAction" : "FileEditorAction",
    isReadOnly: false,
    traits: { file: { field: "path", base: "/w" } },
    definition: { kind: "ThinkTool", title: name, description: "", action_type: "" },
  }));
  const read = createCallReader(tools, createValidator());
  return (given: object) =>
    read({ id: "c", name: "apply_patch", arguments: JSON.stringify(given), origin: "completion" });
}

const patch = (...lines: readonly string[]): string =>
  ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
const change = patch("*** Update File: src/a.ts", "@@ class A", " one", "-two", "+2", "", " end");

test("F26: a patch of one place is an edit, with its context", () => {
  expect(
    reader(["edit", "file_editor"])({ patch: change, security_risk: "LOW", summary: "two is 2" }),
  ).toMatchObject({
    ok: true,
    action: {
      kind: "EditAction",
      file_path: "src/a.ts",
      old_string: "one\ntwo\n\nend",
      new_string: "one\n2\n\nend",
      expected_replacements: 1,
    },
    predictedRisk: "LOW",
    summary: "two is 2",
  });
});

test("F26: without edit it is one of the file editor, below the working directory", () => {
  expect(reader(["file_editor"])({ input: `${change}\n` })).toMatchObject({
    action: {
      kind: "FileEditorAction",
      command: "str_replace",
      path: "/w/src/a.ts",
      new_str: "one\n2\n\nend",
    },
  });
  const added = patch("*** Add File: /tmp/b", "+one", "+");
  expect(reader(["file_editor"])({ patch: added })).toMatchObject({
    action: { command: "create", path: "/tmp/b", file_text: "one\n\n" },
  });
});

test("F26: lines that go altogether take their line end along", () => {
  expect(reader(["edit"])({ patch: patch("*** Update File: a", "-one", "-two") })).toMatchObject({
    action: { old_string: "one\ntwo\n", new_string: "" },
  });
});

test.each([
  ["no patch", "*** Begin Patch"],
  [patch("*** Update File: a", "-x", "+y", "*** Update File: b", "-x", "+y"), "one patch for each file"],
  [patch("*** Update File: a", "@@", "-x", "+y", "@@", "-z", "+y"), "one patch for each place"],
  [patch("*** Delete File: a"), "terminal"],
  [patch("*** Update File: a", "*** Move to: b", "-x", "+y"), "terminal"],
  [patch("*** Update File: a", "+y"), "lines that stand there"],
  [patch("*** Update File: a", "x"), "begin with a space"],
  [patch("*** Add File: a", "x"), "begins with +"],
  [patch("x"), "second line"],
])("F26: any other patch changes nothing and says what to send: %j", (given, words) => {
  expect(reader(["edit"])({ patch: given })).toEqual({
    ok: false,
    error: expect.stringContaining(words) as string,
  });
});

test("F26: an agent without an editing tool has no such tool", () => {
  expect(reader([])({ patch: change })).toMatchObject({ error: expect.stringContaining("There is no tool") });
  expect(reader(["edit"])({})).toMatchObject({ error: expect.stringContaining('"patch"') });
});
