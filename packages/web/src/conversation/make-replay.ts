import { ApiError, type ConvokeClient } from "@convoke/client";
import { longTimeoutMs } from "../lib/save-file.ts";
import { escapeJson, mostBytes, type ReplayFacts } from "../log/replay-facts.ts";
import { slotNames, templateFile } from "../log/replay-template.ts";
import { readLog, type ReadLog } from "./read-log.ts";

type Tasks = Pick<ReplayFacts, "tasks" | "tasksLeft"> & { readonly lines: Blob };

/** The conversation is longer than a browser can read from one file. */
export class ReplayTooLong extends Error {}

/** The whole conversation with those of its sub-agents as one HTML file that opens from a disk and asks nobody for anything. */
export async function makeReplay(
  client: ConvokeClient,
  id: string,
): Promise<{ readonly file: Response } & Pick<ReplayFacts, "tasksLeft">> {
  const params = { conversation_id: id };
  const [frame, conversation, log, check] = await Promise.all([
    readTemplate(),
    client.getConversation(id),
    askLog(client, id, mostBytes.conversation),
    client
      .call("POST /api/conversations/{conversation_id}/replay", { params, timeoutMs: longTimeoutMs })
      // The file says that it was not checked; that is no reason to have no file.
      .catch(() => null),
  ]);
  if (log === null) throw new ReplayTooLong();
  const { lines, tasks, tasksLeft } = await readTasks(client, id, log);
  const facts: ReplayFacts = { conversation, check, recordedAt: new Date().toISOString(), tasks, tasksLeft };
  const title = escapeText(conversation.title ?? id);
  const said = escapeJson(JSON.stringify(facts));
  const values = [document.documentElement.lang, title, said, log.lines, lines];
  const pieces = frame.split(new RegExp(slotNames.join("|")));
  if (pieces.length !== values.length + 1) throw new Error(`${templateFile} is not of this version.`);
  const file = new Blob(
    pieces.flatMap((piece, index) => [piece, values[index] ?? ""]),
    { type: "text/html" },
  );
  return { file: new Response(file), tasksLeft };
}

async function readTemplate(): Promise<string> {
  const reply = await fetch(new URL(templateFile, document.baseURI));
  if (!reply.ok) throw new Error(`The server has no ${templateFile} (${reply.status}).`);
  return await reply.text();
}

async function askLog(client: ConvokeClient, id: string, most: number): Promise<ReadLog | null> {
  const reply = await client.open("GET /api/conversations/{conversation_id}/transcript", {
    params: { conversation_id: id },
    query: { format: "jsonl" },
    timeoutMs: longTimeoutMs,
  });
  return await readLog(reply, most);
}

/** Those of its sub-agents, of theirs, and so on, until the next one would make the file too large. */
async function readTasks(client: ConvokeClient, id: string, log: ReadLog): Promise<Tasks> {
  const wanted = new Set(log.taskIds);
  const tasks: Tasks["tasks"][number][] = [];
  const parts: Blob[] = [];
  let [looked, bytes] = [0, 0];
  // What is added while it is gone through comes later.
  for (const taskId of wanted) {
    if (taskId !== id) {
      const task = await readTask(client, taskId, mostBytes.tasks - bytes);
      if (task === null) return { tasks, tasksLeft: wanted.size - looked, lines: new Blob(parts) };
      if (task !== "gone") {
        tasks.push({ conversation: task.conversation, events: task.log.events });
        bytes += task.log.lines.size;
        parts.push(task.log.lines);
        for (const next of task.log.taskIds) wanted.add(next);
      }
    }
    looked += 1;
  }
  return { tasks, tasksLeft: 0, lines: new Blob(parts) };
}

async function readTask(client: ConvokeClient, id: string, most: number) {
  try {
    const [conversation, log] = await Promise.all([client.getConversation(id), askLog(client, id, most)]);
    return log && { conversation, log };
  } catch (error) {
    // What was deleted shows its report, as in the page.
    if (error instanceof ApiError && error.status === 404) return "gone";
    throw error;
  }
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
