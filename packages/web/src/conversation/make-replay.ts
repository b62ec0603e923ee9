import type { ConvokeClient } from "@convoke/client";
import { longTimeoutMs } from "../lib/save-file.ts";
import { escapeJson, type ReplayFacts } from "../log/replay-facts.ts";
import { slotNames, templateFile } from "../log/replay-template.ts";

/** The whole conversation as one HTML file that opens from a disk and asks nobody for anything. */
export async function makeReplay(client: ConvokeClient, id: string): Promise<Response> {
  const params = { conversation_id: id };
  const [frame, conversation, log, check] = await Promise.all([
    readTemplate(),
    client.getConversation(id),
    client.open("GET /api/conversations/{conversation_id}/transcript", {
      params,
      query: { format: "jsonl" },
      timeoutMs: longTimeoutMs,
    }),
    client
      .call("POST /api/conversations/{conversation_id}/replay", { params, timeoutMs: longTimeoutMs })
      // The file says that it was not checked; that is no reason to have no file.
      .catch(() => null),
  ]);
  const facts: ReplayFacts = { conversation, check, recordedAt: new Date().toISOString() };
  const title = escapeText(conversation.title ?? id);
  const said = escapeJson(JSON.stringify(facts));
  const values = [document.documentElement.lang, title, said, await escaped(log)];
  const pieces = frame.split(new RegExp(slotNames.join("|")));
  if (pieces.length !== values.length + 1) throw new Error(`${templateFile} is not of this version.`);
  return new Response(
    new Blob(
      pieces.flatMap((piece, index) => [piece, values[index] ?? ""]),
      { type: "text/html" },
    ),
  );
}

async function readTemplate(): Promise<string> {
  const reply = await fetch(new URL(templateFile, document.baseURI));
  if (!reply.ok) throw new Error(`The server has no ${templateFile} (${reply.status}).`);
  return await reply.text();
}

/** A long log passes through in pieces, and the browser keeps what comes out of it where it likes. */
async function escaped(log: Response): Promise<Blob> {
  if (log.body === null) return new Blob([]);
  const safe = log.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(
      new TransformStream<string, string>({
        transform: (piece, controller) => controller.enqueue(escapeJson(piece)),
      }),
    )
    .pipeThrough(new TextEncoderStream());
  return await new Response(safe).blob();
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
