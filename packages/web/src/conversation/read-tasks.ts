import { ApiError, type ConvokeClient } from "@convoke/client";
import { longTimeoutMs } from "../lib/save-file.ts";
import type { ReplayFacts } from "../log/replay-facts.ts";
import { readLog, type ReadLog } from "./read-log.ts";

type Client = Pick<ConvokeClient, "open" | "getConversation">;
type Tasks = Pick<ReplayFacts, "tasks" | "tasksLeft"> & { readonly lines: Blob };

/** Reads the events of a conversation; null if they exceed `maxBytes`. */
export async function askLog(client: Client, id: string, maxBytes: number): Promise<ReadLog | null> {
  const reply = await client.open("GET /api/conversations/{conversation_id}/transcript", {
    params: { conversation_id: id },
    query: { format: "jsonl" },
    timeoutMs: longTimeoutMs,
  });
  return await readLog(reply, maxBytes);
}

/** Reads the conversations of its sub-agents recursively, until the next one would exceed the limit. */
export async function readTasks(
  client: Client,
  {
    id,
    log,
    maxBytes,
  }: { readonly id: string; readonly log: Pick<ReadLog, "taskIds">; readonly maxBytes: number },
): Promise<Tasks> {
  const wanted = new Set(log.taskIds);
  const tasks: Tasks["tasks"][number][] = [];
  const parts: Blob[] = [];
  let [readCount, bytes] = [0, 0];
  // The list grows during the loop.
  for (const taskId of wanted) {
    if (taskId !== id) {
      const task = await readTask(client, taskId, maxBytes - bytes);
      if (task === null) return { tasks, tasksLeft: wanted.size - readCount, lines: new Blob(parts) };
      if (task !== "gone") {
        tasks.push({ conversation: task.conversation, events: task.log.events });
        bytes += task.log.lines.size;
        parts.push(task.log.lines);
        for (const next of task.log.taskIds) wanted.add(next);
      }
    }
    readCount += 1;
  }
  return { tasks, tasksLeft: 0, lines: new Blob(parts) };
}

async function readTask(client: Client, id: string, maxBytes: number) {
  try {
    const [conversation, log] = await Promise.all([client.getConversation(id), askLog(client, id, maxBytes)]);
    return log && { conversation, log };
  } catch (error) {
    // A deleted conversation shows its report, as in the page.
    if (error instanceof ApiError && error.status === 404) return "gone";
    throw error;
  }
}
