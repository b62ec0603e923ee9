import { pipeline } from "node:stream/promises";
import { Option, type Command } from "commander";
import {
  downloadConversation,
  exportFormats,
  writeNewFile,
  type ExportFormat,
} from "../api/download-conversation.ts";
import { conversationArgument, findConversation } from "../api/find-conversation.ts";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { printJson } from "../print/json.ts";

type ExportOptions = ApiOptions & { readonly format: ExportFormat; readonly output?: string };

export function addExport(program: Command): void {
  withServer(
    program
      .command("export")
      .description("Write a conversation into a file, or to standard output")
      .argument("<id>", conversationArgument)
      .addOption(
        new Option(
          "--format <format>",
          "markdown or html to read, jsonl with each event, atif for programs that read trajectories, zip with all that is stored",
        )
          .choices(Object.keys(exportFormats))
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
  const source = await downloadConversation(opened.client, id, format);
  if (output === undefined) {
    await pipeline(source, process.stdout, { end: false });
    return;
  }
  const bytes = await writeNewFile(output, source);
  if (json === true) printJson("export", { id, file: output, bytes });
  else console.log(`${output}  ${bytes} bytes`);
}
