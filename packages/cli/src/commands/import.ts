import { openAsBlob } from "node:fs";
import type { ConvokeClient } from "@convoke/client";
import type { ImportResult } from "@convoke/protocol";
import type { Command } from "commander";
import { findUploads, type Upload } from "../api/pack-folder.ts";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";
import { describeUnreadable } from "../describe-unreadable.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { printJson } from "../print/json.ts";
import { printable } from "../print/printable.ts";

type ImportOptions = ApiOptions & {
  readonly dryRun?: true;
  readonly newId?: true;
  readonly workingDir?: string;
};

export function addImport(program: Command): void {
  withServer(
    program
      .command("import")
      .description("Import conversations of another server, or of exports")
      .argument("<path...>", "folders of conversations, folders of such folders, zip, tar and jsonl files")
      .option("--dry-run", "say what would be imported, and store nothing")
      .option("--new-id", "give each conversation an id of its own")
      .option(
        "--working-dir <folder>",
        "where conversations work whose folder is not on the server's machine",
      ),
  ).action(importAll);
}

async function importAll(paths: readonly string[], options: ImportOptions): Promise<void> {
  const uploads = (await Promise.all(paths.map(findOrExplain))).flat();
  await using opened = await openApi(options);
  const counts = new Map<ImportResult["status"], number>();
  for (const [index, openUpload] of uploads.entries()) {
    await using upload = await openUpload();
    if (options.json !== true && process.stderr.isTTY)
      process.stderr.write(printable(`${index + 1} of ${uploads.length}  ${upload.name}\n`));
    const { results } = await send(opened.client, upload, options);
    for (const result of results) {
      counts.set(result.status, (counts.get(result.status) ?? 0) + 1);
      if (options.json === true) printJson("import", result);
      else for (const line of linesOf(result)) console.log(printable(line));
    }
  }
  if (options.json !== true)
    console.log([...counts].map(([status, count]) => `${count} ${words[status]}`).join(", "));
  if (counts.has("refused"))
    throw new CommandError("Not everything could be imported; the lines above say why.");
}

async function findOrExplain(path: string): ReturnType<typeof findUploads> {
  const found = await findUploads(path).catch((error: unknown) => {
    throw new CommandError(describeUnreadable(path, error), exitCodes.usage);
  });
  if (found.length === 0) throw new CommandError(`There is no conversation in ${path}.`, exitCodes.usage);
  return found;
}

async function send(
  client: ConvokeClient,
  { name, path }: Upload,
  { dryRun, newId, workingDir }: ImportOptions,
): Promise<{ readonly results: readonly ImportResult[] }> {
  const body = new FormData();
  body.set("file", await openAsBlob(path), name);
  return await client.call("POST /api/conversations/import", {
    body,
    query: {
      dry_run: dryRun === true,
      new_ids: newId === true,
      ...(workingDir === undefined ? {} : { working_dir: workingDir }),
    },
    timeoutMs: 1_800_000,
  });
}

const words: Readonly<Record<ImportResult["status"], string>> = {
  imported: "imported",
  unchanged: "here already",
  would_import: "would be imported",
  refused: "refused",
};

function linesOf({
  status,
  source,
  conversation_id: id,
  title,
  events,
  warnings,
  detail,
}: ImportResult): string[] {
  if (status === "refused") return [`${source}  refused: ${detail ?? ""}`];
  const first = [id ?? source, words[status], `${events} events`, title ?? ""].join("  ").trimEnd();
  return [first, ...warnings.map((warning) => `  ${warning}`)];
}
