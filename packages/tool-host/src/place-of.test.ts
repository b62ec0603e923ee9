import { expect, test } from "vitest";
import { listTool } from "./list-tool.ts";
import { placeOf, placesOf } from "./place-of.ts";
import { applyPatchTool } from "./tools/apply-patch/apply-patch-tool.ts";
import { fileEditorTool } from "./tools/file-editor/file-editor-tool.ts";
import { finishTool } from "./tools/finish.ts";
import { grepTool } from "./tools/grep/grep-tool.ts";
import { terminalTool } from "./tools/terminal/terminal-tool.ts";
import { createTerminalToolSet } from "./tools/terminals/terminal-tool-set.ts";

const context = {
  sessionId: "s",
  workspaceDir: "/w",
  stateDir: "/s",
  environment: { PATH: "/bin:/usr/bin" },
  params: {},
  canSee: false,
};

test("tools 20.4.11: one file is one place, however its path is written", () => {
  const editor = listTool(fileEditorTool, context);
  const place = (path: string) => placeOf(editor, { kind: "FileEditorAction", command: "view", path });
  expect([place("/w/a"), place("/w/x/../a"), place("a"), place("./x//../a")]).toEqual(
    Array.from({ length: 4 }, () => "file:/w/a"),
  );
  expect(place("/w/b")).toBe("file:/w/b");
});

test("a tool that says nothing of places is one, unless it only reads", () => {
  expect(placeOf(listTool(terminalTool, context), null)).toBe("tool:terminal");
  expect(placeOf(listTool(grepTool, context), null)).toBeNull();
  expect(placeOf({ ...listTool(grepTool, context), traits: { place: "disk" } }, null)).toBe("disk");
});

test("finish ends the turn", () => {
  expect(listTool(finishTool, context).traits).toEqual({ endsTurn: true, needsNoApproval: true });
});

test("each terminal with a name is a place of its own", () => {
  const run = createTerminalToolSet().faces.find(({ name }) => name === "terminal_run")!;
  const listing = listTool(run, context);
  const place = (data: Record<string, unknown>) => placeOf(listing, { kind: "MCPToolAction", data });
  expect([place({ terminal: "a" }), place({ terminal: "b" })]).toEqual(["terminal:a", "terminal:b"]);
  expect([place({}), place({ terminal: 5 }), placeOf(listing, null)]).toEqual(Array(3).fill("terminal"));
});

test("client 3: a patch has the place of each file that it names, where it goes too", () => {
  const patch =
    "*** Begin Patch\n*** Update File: a\n*** Move to: x/b\n-1\n+2\n*** Delete File: /w/c\n*** Add File: ./c\n*** End Patch";
  const action = { kind: "ApplyPatchAction", patch } as never;
  expect(placesOf(listTool(applyPatchTool, context), action)).toEqual([
    "file:/w/a",
    "file:/w/x/b",
    "file:/w/c",
  ]);
  expect(placesOf(listTool(applyPatchTool, context), null)).toEqual(["tool:apply_patch"]);
  expect(placesOf(listTool(grepTool, context), null)).toEqual([]);
});
