import { randomUUID } from "node:crypto";
import { open, readFile, rename } from "node:fs/promises";
import type { Action, TaskItem, TaskTrackerAction, TaskTrackerObservation } from "@convoke/protocol";
import type { ToolInstance } from "../../tool.ts";
import { textPart } from "../observation-content.ts";

/** A task with all fields, as it is saved. */
type Task = {
  readonly title: string;
  readonly notes: string;
  readonly status: "todo" | "in_progress" | "done";
};

/** Loads the saved list; a damaged file is renamed and the list starts empty. */
export async function openTaskTracker(path: string): Promise<ToolInstance> {
  const saved = await loadTasks(path);
  if (saved === "damaged") await rename(path, `${path}.damaged`);
  return new TaskTracker(path, saved === "damaged" ? [] : saved, saved === "damaged");
}

class TaskTracker implements ToolInstance {
  readonly #path: string;
  #tasks: readonly Task[];
  #isLossUntold: boolean;

  constructor(path: string, tasks: readonly Task[], isLossUntold: boolean) {
    this.#path = path;
    this.#tasks = tasks;
    this.#isLossUntold = isLossUntold;
  }

  async execute(action: Action): Promise<TaskTrackerObservation> {
    const { command = "view", task_list = [] } = action as TaskTrackerAction;
    if (command === "plan") await this.#replace(task_list.map(toTask));
    const text = command === "plan" ? describePlan(this.#tasks) : describeTasks(this.#tasks);
    const note = this.#isLossUntold
      ? `The saved list could not be read and is kept as ${this.#path}.damaged; the list began empty.\n`
      : "";
    this.#isLossUntold = false;
    return {
      kind: "TaskTrackerObservation",
      content: [textPart(note + text)],
      is_error: false,
      command,
      task_list: this.#tasks.map((task) => ({ ...task })),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  /** The new list takes effect only once it is saved. */
  async #replace(tasks: readonly Task[]): Promise<void> {
    const temporary = `${this.#path}.${randomUUID()}.tmp`;
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(`${JSON.stringify(tasks, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, this.#path);
    this.#tasks = tasks;
  }
}

function describePlan(tasks: readonly Task[]): string {
  if (tasks.length === 0) return "The task list is now empty.";
  return `The task list now has ${tasks.length} ${tasks.length === 1 ? "task" : "tasks"}.`;
}

function describeTasks(tasks: readonly Task[]): string {
  if (tasks.length === 0) return 'There is no task list yet. Make one with the command "plan".';
  const lines = tasks.map((task, index) => {
    const notes = task.notes === "" ? "" : `\n${task.notes.replaceAll(/^/gm, "      ")}`;
    return `${index + 1}. ${symbols[task.status]} ${task.title}${notes}`;
  });
  return `Tasks ([ ] todo, [~] in progress, [x] done):\n${lines.join("\n")}`;
}

const symbols = { todo: "[ ]", in_progress: "[~]", done: "[x]" } as const;

function toTask({ title, notes = "", status = "todo" }: TaskItem): Task {
  return { title, notes, status };
}

async function loadTasks(path: string): Promise<readonly Task[] | "damaged"> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "[]";
    throw error;
  });
  return parseTasks(text) ?? "damaged";
}

function parseTasks(text: string): readonly Task[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined; // Not JSON: the caller treats it as damaged.
  }
  if (!Array.isArray(value)) return undefined;
  const tasks = value.map(parseTask);
  return tasks.every((task) => task !== undefined) ? tasks : undefined;
}

function parseTask(value: unknown): Task | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { title, notes = "", status = "todo" } = value as Partial<Record<keyof Task, unknown>>;
  if (typeof title !== "string" || typeof notes !== "string") return undefined;
  if (status !== "todo" && status !== "in_progress" && status !== "done") return undefined;
  return { title, notes, status };
}
