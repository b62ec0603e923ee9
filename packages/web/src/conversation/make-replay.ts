import type { ConvokeClient } from "@convoke/client";
import { longTimeoutMs } from "../lib/save-file.ts";
import { escapeJson, maxBytes, type ReplayFacts } from "../log/replay-facts.ts";
import { slotNames, templateFile } from "../log/replay-template.ts";
import { askLog, readTasks } from "./read-tasks.ts";

/** Thrown if the conversation is too long for one file. */
export class ReplayTooLong extends Error {}

/** The conversation and those of its sub-agents as one HTML file that opens offline and makes no requests. */
export async function makeReplay(
  client: ConvokeClient,
  id: string,
): Promise<{ readonly file: Response } & Pick<ReplayFacts, "tasksLeft">> {
  const params = { conversation_id: id };
  const [frame, conversation, log, check] = await Promise.all([
    readTemplate(),
    client.getConversation(id),
    askLog(client, id, maxBytes.conversation),
    client
      .call("POST /api/conversations/{conversation_id}/replay", { params, timeoutMs: longTimeoutMs })
      // The file is marked as unverified instead.
      .catch(() => null),
  ]);
  if (log === null) throw new ReplayTooLong();
  const { lines, tasks, tasksLeft } = await readTasks(client, { id, log, maxBytes: maxBytes.tasks });
  const facts: ReplayFacts = { conversation, check, recordedAt: new Date().toISOString(), tasks, tasksLeft };
  const title = escapeText(conversation.title ?? id);
  const factsJson = escapeJson(JSON.stringify(facts));
  const values = [document.documentElement.lang, title, factsJson, log.lines, lines];
  const parts = frame.split(new RegExp(slotNames.join("|")));
  if (parts.length !== values.length + 1) throw new Error(`${templateFile} is of another version.`);
  const file = new Blob(
    parts.flatMap((part, index) => [part, values[index] ?? ""]),
    { type: "text/html" },
  );
  return { file: new Response(file), tasksLeft };
}

async function readTemplate(): Promise<string> {
  const reply = await fetch(new URL(templateFile, document.baseURI));
  if (!reply.ok) throw new Error(`The server has no ${templateFile} (${reply.status}).`);
  return await reply.text();
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
