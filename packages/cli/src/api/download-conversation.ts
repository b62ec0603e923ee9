import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import type { ConvokeClient } from "@convoke/client";
import { CommandError, exitCodes } from "../exit-codes.ts";

/** What a conversation can be written as, and the ending of such files. */
export const exportFormats = {
  markdown: ".md",
  html: ".html",
  jsonl: ".jsonl",
  atif: ".atif.json",
  zip: ".zip",
} as const;

export type ExportFormat = keyof typeof exportFormats;

/** The text or archive of a conversation. Rejects with `ApiError` where there is none. */
export async function downloadConversation(
  client: ConvokeClient,
  id: string,
  format: ExportFormat,
): Promise<Readable> {
  const more = { params: { conversation_id: id }, timeoutMs: 600_000 };
  const { body } =
    format === "zip"
      ? await client.open("GET /api/file/download-trajectory/{conversation_id}", more)
      : await client.open("GET /api/conversations/{conversation_id}/transcript", {
          ...more,
          query: { format },
        });
  if (body === null) throw new CommandError("The server sent nothing.");
  return Readable.fromWeb(body as ReadableStream);
}

/** Resolves with the number of bytes. A file that was there stays; half a file is removed. */
export async function writeNewFile(path: string, source: Readable): Promise<number> {
  const file = createWriteStream(path, { flags: "wx" });
  try {
    await pipeline(source, file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw new CommandError(`${path} is there already.`, exitCodes.usage);
    await rm(path, { force: true });
    throw error;
  }
  return file.bytesWritten;
}
