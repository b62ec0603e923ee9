import { expect, test } from "vitest";
import { SampleLog } from "../testing/sample-log.ts";
import { foldRows } from "./row-fold.ts";
import { taskOf } from "./row.ts";

test("J15: the conversation of a task is known from what the log says of it, or from its report", () => {
  const log = new SampleLog();
  const action = log.action("task", { kind: "TaskAction", prompt: "look" });
  const task = (): string | null => {
    const [row] = foldRows(log.events);
    return row?.type === "action" ? taskOf(row) : null;
  };
  expect(task()).toBeNull();
  const shownCount = log.events.length;
  log.state("task", { task_id: "t1", subagent: "general", action_id: action, status: "running" });
  expect(task()).toBe("t1");
  log.events.splice(shownCount);
  log.result(action, { kind: "TaskObservation", task_id: "t2", content: [] }, "task");
  expect(task()).toBe("t2");
  const other = new SampleLog();
  other.command("ls", "a");
  expect(foldRows(other.events).map((row) => row.type === "action" && taskOf(row))).toEqual([null]);
});

test("arguments that stand in the place of a summary are none", () => {
  const log = new SampleLog();
  const action = log.action("terminal", { command: "ls" });
  const summaryWith = (summary: string): string => {
    const [row] = foldRows(
      log.events.map((event) => (event["id"] === action ? { ...event, summary } : event)),
    );
    return row?.type === "action" ? row.summary : "no row";
  };
  expect(summaryWith('terminal: {"command":"ls"}')).toBe("");
  expect(summaryWith("terminal: look around")).toBe("terminal: look around");
});
