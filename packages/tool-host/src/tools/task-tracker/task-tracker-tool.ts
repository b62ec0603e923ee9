import { join } from "node:path";
import type { Tool } from "../../tool.ts";
import { annotate, defineTool } from "../define-tool.ts";
import { openTaskTracker } from "./task-tracker.ts";

/** Stores the agent's task list in `TASKS.json` of the session's state directory. */
export const taskTrackerTool: Tool = {
  name: "task_tracker",
  actionKind: "TaskTrackerAction",
  isReadOnly: false,
  define: () =>
    defineTool(
      "TaskTracker",
      "task_tracker",
      description,
      annotate(null, { readOnly: false, destructive: false, idempotent: true, openWorld: false }),
    ),
  open: async (context) => openTaskTracker(join(context.stateDir, "TASKS.json")),
};

const description = `Keep a list of tasks for work that takes several steps, so that nothing is forgotten and the user sees the progress.

Worth using when the request has three or more separate steps, when the user names several things to do, or when new work turns up on the way. Not worth it for a single quick change, a question, or a chat: just do those.

Commands:
- view: shows the list.
- plan: replaces the whole list by task_list. Send every task each time, the finished ones too; a task that is left out is gone, and an empty list clears it.

Statuses: todo (not begun), in_progress (being worked on; only one task at a time), done (finished and checked).
Set a task to in_progress before you begin it and to done as soon as it is finished; leave it open while tests fail or parts are missing. Put what must be remembered into the notes.`;
