import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import type { ConvokeClient } from "@convoke/client";
import { Option, type Command } from "commander";
import { conversationArgument, findConversation } from "../api/find-conversation.ts";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { printJson } from "../print/json.ts";

type Format = "markdown" | "jsonl" | "atif" | "zip";
type ExportOptions = ApiOptions & { readonly format: Format; readonly output?: string };

export function addExport(program: Command): void {
  withServer(
    program
      .command("export")
      .description("Write a conversation into a file, or to standard output")
      .argument("<id>", conversationArgument)
      .addOption(
        new Option(
          "--format <format>",
          "markdown to read, jsonl with each event, atif for programs that read trajectories, zip with all that is stored",
        )
          .choices(["markdown", "jsonl", "atif", "zip"])
          .default("markdown"),
      )
      .option("-o, --output <file>", "the file; one that is there is an error"),
  ).action(exportConversation);
}

async function exportConversation(given: string, options: ExportOptions): Promise<void> {
  const { format, output, json } = options;
  if (output === undefined && json === true)
    throw new CommandError("--json says what was written, so it needs -o FILE.", exitCodes.usage);
  if (output === undefined && format === "zip" && process.stdout.isTTY)
    throw new CommandError("A zip is nothing for a terminal. Name a file with -o.", exitCodes.usage);
  await using opened = await openApi(options);
  const id = await findConversation(opened.client, given);
  const { body } = await download(opened.client, id, format);
  if (body === null) throw new CommandError("The server sent nothing.");
  const source = Readable.fromWeb(body as ReadableStream);
  if (output === undefined) {
    await pipeline(source, process.stdout, { end: false });
    return;
  }
  const bytes = await writeNew(output, source);
  if (json === true) printJson("export", { id, file: output, bytes });
  else console.log(`${output}  ${bytes} bytes`);
}

function download(client: ConvokeClient, id: string, format: Format): Promise<Response> {
  const more = { params: { conversation_id: id }, timeoutMs: 600_000 };
  if (format === "zip") return client.open("GET /api/file/download-trajectory/{conversation_id}", more);
  return client.open("GET /api/conversations/{conversation_id}/transcript", { ...more, query: { format } });
}

/** Resolves with the number of bytes. A file that was there stays; half a file is removed. */
async function writeNew(path: string, source: Readable): Promise<number> {
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
