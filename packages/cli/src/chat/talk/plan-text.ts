import type { ConvokeClient } from "@convoke/client";
import { foldPlan, foldTaskList, type Row, type Task } from "@convoke/client/view";

const marks: Readonly<Record<Task["status"], string>> = { todo: "[ ]", in_progress: "[~]", done: "[x]" };
/** A plan is read by people. */
const maxCharacters = 200_000;

/** The plan as its file has it now, in Markdown; else the task list; null where there is neither. */
export async function planText(
  client: ConvokeClient,
  id: string,
  rows: readonly Row[],
): Promise<string | null> {
  const plan = foldPlan(rows);
  if (plan === null) {
    const tasks = foldTaskList(rows);
    return tasks.length === 0
      ? null
      : tasks.map(({ title, status }) => `${marks[status]} ${title}`).join("\n");
  }
  const reply = await client.open("GET /api/conversations/{runtime_conversation_id}/file/download", {
    params: { runtime_conversation_id: id },
    query: { path: plan.path },
  });
  const text = await reply.text();
  return text.slice(0, maxCharacters).toWellFormed();
}
