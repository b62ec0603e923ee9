import type { Static } from "typebox";
import { TaskItem } from "../actions/task-tracker-action.ts";
import { choice, list, ref } from "../schema.ts";
import { observation } from "./observation-fields.ts";

/** The task list after the command. */
export const TaskTrackerObservation = observation("TaskTrackerObservation", {
  command: choice(["view", "plan"]),
  task_list: list(ref(TaskItem)),
});
export type TaskTrackerObservation = Static<typeof TaskTrackerObservation>;
