import { Type, type Static } from "typebox";
import { choice, list, object, ref } from "../schema.ts";
import { action } from "./action-fields.ts";

/** One entry of the task list. */
export const TaskItem = object("TaskItem", {
  title: Type.String({ description: "What is to be done, in a few words." }),
  notes: Type.Optional(Type.String({ default: "", description: "Details worth keeping beside the task." })),
  status: Type.Optional(
    choice(["todo", "in_progress", "done"], {
      default: "todo",
      description: "todo, in_progress (one task at a time) or done.",
    }),
  ),
});
export type TaskItem = Static<typeof TaskItem>;

/** Show or replace the list of tasks. */
export const TaskTrackerAction = action("TaskTrackerAction", {
  command: Type.Optional(
    choice(["view", "plan"], {
      default: "view",
      description: "view shows the list; plan replaces the whole list with task_list.",
    }),
  ),
  task_list: list(ref(TaskItem), {
    description: "For plan: every task, finished ones included, because the old list is discarded.",
  }),
});
export type TaskTrackerAction = Static<typeof TaskTrackerAction>;
