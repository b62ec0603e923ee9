import { asRecord, listAt, textAt } from "./unknown-record.ts";
import type { Row } from "./row.ts";

export type Task = {
  readonly title: string;
  readonly notes: string;
  readonly status: "todo" | "in_progress" | "done";
};

/** The agent's current task list; empty if there is none. */
export function foldTaskList(rows: readonly Row[]): readonly Task[] {
  const plan = rows.findLast(
    (row) =>
      row.type === "action" &&
      row.action?.["kind"] === "TaskTrackerAction" &&
      row.action["command"] === "plan",
  );
  return plan?.type === "action" ? tasksOf(listAt(plan.action, "task_list")) : [];
}

export function tasksOf(items: readonly unknown[]): readonly Task[] {
  return items.map((item) => {
    const fields = asRecord(item);
    const status = fields?.["status"];
    return {
      title: textAt(fields, "title"),
      notes: textAt(fields, "notes"),
      status: status === "done" || status === "in_progress" ? status : "todo",
    };
  });
}
