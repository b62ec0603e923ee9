import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TaskItem } from "@convoke/protocol";
import { expect, onTestFinished, test } from "vitest";
import { openTool } from "../../testing/open-tool.ts";
import { taskTrackerTool } from "./task-tracker-tool.ts";

const write = { title: "Write", notes: "", status: "todo" as const };
const check = { title: "Check", notes: "all of it\ntwice", status: "in_progress" as const };

test("tools 20.6.1: plan replaces the whole list, view shows it with numbers, statuses and notes", async () => {
  const bench = await openBench();
  expect(await bench.view()).toMatchObject({ is_error: false, command: "view", task_list: [] });
  expect(await bench.plan([{ title: "Write" }, check])).toMatchObject({
    is_error: false,
    command: "plan",
    task_list: [write, check],
    content: [{ text: "The task list now has 2 tasks." }],
  });
  expect(await bench.view()).toMatchObject({
    task_list: [write, check],
    content: [{ text: expect.stringContaining("1. [ ] Write\n2. [~] Check\n      all of it\n      twice") }],
  });
  expect(await bench.plan([{ ...check, status: "done" }])).toMatchObject({
    task_list: [{ ...check, status: "done" }],
  });
  expect(await bench.plan([])).toMatchObject({
    task_list: [],
    content: [{ text: "The task list is now empty." }],
  });
});

test("tools 20.6.2: the list survives a restart as TASKS.json, indented by two, with no temporary file beside it", async () => {
  const bench = await openBench();
  await bench.plan([write, check]);
  expect(await readFile(bench.path, "utf8")).toBe(`${JSON.stringify([write, check], null, 2)}\n`);
  await bench.reopen();
  expect(await bench.view()).toMatchObject({ task_list: [write, check] });
  expect(await readdir(bench.stateDir)).toEqual(["TASKS.json"]);
});

test.each(["{not json", "{}", '[{"title": 1}]', '[{"title": "a", "status": "later"}]', ""])(
  "tools 20.6.2: a damaged file (%s) gives an empty list, is kept, and the model is told once",
  async (damaged) => {
    const bench = await openBench();
    await writeFile(bench.path, damaged);
    await bench.reopen();
    const first = await bench.view();
    expect(first).toMatchObject({ is_error: false, task_list: [] });
    expect(JSON.stringify(first)).toContain("TASKS.json.damaged");
    expect(JSON.stringify(await bench.view())).not.toContain("damaged");
    expect(await readFile(`${bench.path}.damaged`, "utf8")).toBe(damaged);
  },
);

test("a list written by hand may leave out notes and status", async () => {
  const bench = await openBench();
  await writeFile(bench.path, '[{"title": "Write"}]');
  await bench.reopen();
  expect(await bench.view()).toMatchObject({ task_list: [write] });
});

test("tools 20.6.3: an invalid status is refused by the action's schema", async () => {
  const bench = await openBench();
  const task = { title: "Write", status: "later" } as unknown as TaskItem;
  await expect(bench.plan([task])).rejects.toThrow("Not valid");
});

test("a list that cannot be saved does not take effect", async () => {
  const bench = await openBench();
  await bench.plan([write]);
  await bench.breakState();
  await expect(bench.plan([])).rejects.toThrow("ENOENT");
  expect(await bench.view()).toMatchObject({ task_list: [write] });
});

async function openBench() {
  const bench = await openTool(taskTrackerTool);
  onTestFinished(async () => bench[Symbol.asyncDispose]());
  const { stateDir } = bench.context;
  return {
    stateDir,
    path: join(stateDir, "TASKS.json"),
    reopen: bench.reopen,
    breakState: bench.removeState,
    view: async () => bench.execute({ kind: "TaskTrackerAction", command: "view" }),
    plan: async (task_list: TaskItem[]) =>
      bench.execute({ kind: "TaskTrackerAction", command: "plan", task_list }),
  };
}
