import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Action, Observation } from "@convoke/protocol";
import { expect, onTestFinished, test } from "vitest";
import { openTool } from "../../testing/open-tool.ts";
import { planningFileEditorTool } from "./planning-file-editor-tool.ts";

async function bench(files: Readonly<Record<string, string>> = {}) {
  const opened = await openTool(planningFileEditorTool, files);
  onTestFinished(() => opened[Symbol.asyncDispose]());
  const place = (name: string): string => join(opened.context.workspaceDir, name);
  const run = (command: string, name: string, more: object = {}): Promise<Observation> =>
    opened.execute({ kind: "PlanningFileEditorAction", command, path: place(name), ...more } as Action);
  return { ...opened, place, run };
}

const plan = ".agents_tmp/PLAN.md";

test("tools 20.3.12: the plan exists with its headings, everything can be viewed, only the plan changed", async () => {
  const { run, place } = await bench({ "src/a.ts": "const a = 1;\n" });
  expect(await run("view", "src/a.ts")).toMatchObject({
    kind: "PlanningFileEditorObservation",
    is_error: false,
  });
  expect((await readFile(place(plan), "utf8")).match(/^# \d\. .+$/gm)).toHaveLength(5);
  for (const [command, more] of [
    ["create", { file_text: "x" }],
    ["str_replace", { old_str: "1", new_str: "2" }],
    ["insert", { insert_line: 0, new_str: "x" }],
    ["undo_edit", {}],
  ] as const) {
    const refused = await run(command, command === "create" ? "src/b.ts" : "src/a.ts", more);
    expect(refused).toMatchObject({ is_error: true, command, path: null });
    expect(JSON.stringify(refused)).toContain(plan);
  }
  expect(await readFile(place("src/a.ts"), "utf8")).toBe("const a = 1;\n");
  expect(
    await run("str_replace", plan, { old_str: "# 4. Steps\n", new_str: "# 4. Steps\nBuild.\n" }),
  ).toMatchObject({
    is_error: false,
    path: place(plan),
    new_content: expect.stringContaining("Build."),
  });
});

test("the empty plan may be replaced, and that undone; a written plan is never overwritten", async () => {
  const { run, place } = await bench();
  await run("view", plan);
  expect(await run("create", plan, { file_text: "# All of it\n" })).toMatchObject({
    is_error: false,
    command: "create",
  });
  expect(await readFile(place(plan), "utf8")).toBe("# All of it\n");
  expect(await run("create", plan, { file_text: "again" })).toMatchObject({ is_error: true });
  expect(await run("undo_edit", plan)).toMatchObject({ is_error: false });
  expect(await readFile(place(plan), "utf8")).toContain("# 5.");
});

test("tools 20.3.12: a PLAN.md at the root is the plan, and a link does not make another file the plan", async () => {
  const { run, place } = await bench({ "PLAN.md": "# Old\n", "a.ts": "a" });
  expect(await run("insert", "PLAN.md", { insert_line: 1, new_str: "more" })).toMatchObject({
    is_error: false,
  });
  expect(await run("insert", plan, { insert_line: 0, new_str: "x" })).toMatchObject({ is_error: true });
  await symlink(place("a.ts"), place("other.md"));
  expect(await run("insert", "other.md", { insert_line: 0, new_str: "x" })).toMatchObject({ is_error: true });
  await writeFile(place("b.ts"), "b");
  expect(await run("str_replace", "b.ts", { old_str: "b", new_str: "c" })).toMatchObject({ is_error: true });
});

test("the place of the plan is absolute or refused", async () => {
  const { context, place } = await bench();
  const call = {
    actionId: "a",
    tool: "planning_file_editor",
    signal: new AbortController().signal,
    secrets: [],
    onProgress: () => {},
  };
  const view: Action = { kind: "PlanningFileEditorAction", command: "view", path: place("my.md") };
  await using given = await planningFileEditorTool.open({
    ...context,
    params: { plan_path: place("my.md") },
  });
  expect(await given.execute(view, call)).toMatchObject({ is_error: false });
  await using relative = await planningFileEditorTool.open({ ...context, params: { plan_path: "my.md" } });
  await expect(relative.execute(view, call)).rejects.toThrow("plan_path");
});
