import type { Command } from "commander";
import { conversationArgument, findConversation } from "../api/find-conversation.ts";
import { findTrashed, listTrash } from "../api/list-trash.ts";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";
import { printJson } from "../print/json.ts";
import { printTable } from "../print/table.ts";
import { confirm } from "./confirm.ts";
import { showSubcommands } from "./show-subcommands.ts";

type TrashOptions = ApiOptions & { readonly yes?: true };

/** `convoke trash`: what was put aside, and is deleted later. */
export function addTrash(program: Command): void {
  const trash = program
    .command("trash")
    .description("Put conversations aside, bring them back, or delete them for ever");
  withServer(trash.command("ls").description("List what is in the trash")).action(list);
  withServer(
    trash
      .command("put")
      .description("Put conversations into the trash")
      .argument("<id...>", conversationArgument),
  ).action(put);
  withServer(
    trash
      .command("restore")
      .description("Put conversations back where they were")
      .argument("<id...>", "id in the trash, or its beginning"),
  ).action(restore);
  withServer(
    trash
      .command("empty")
      .description("Delete everything in the trash for ever, except what is on hold")
      .option("--yes", "do not ask"),
  ).action(empty);
  showSubcommands(trash);
}

async function list(options: ApiOptions): Promise<void> {
  await using opened = await openApi(options);
  const rows: string[][] = [];
  for await (const entry of listTrash(opened.client)) {
    if (options.json === true) printJson("trash", entry);
    const { conversation_id: id, title, reason, ends_at: end, hold_reason: hold } = entry;
    rows.push([id, hold === null ? `until ${end.slice(0, 10)}` : "on hold", reason, title ?? ""]);
  }
  if (options.json === true) return;
  if (rows.length === 0) console.log("The trash is empty.");
  else printTable([{}, {}, { isCut: true }, { isCut: true }], rows);
}

async function put(given: readonly string[], options: ApiOptions): Promise<void> {
  await using opened = await openApi(options);
  const { client } = opened;
  // All of them first: one that is no conversation moves nothing.
  const ids: string[] = [];
  for (const one of given) ids.push(await findConversation(client, one));
  for (const id of ids) {
    const entry = await client.call("POST /api/conversations/{conversation_id}/trash", {
      params: { conversation_id: id },
    });
    if (options.json === true) printJson("trash", entry);
    else console.log(`${id} is in the trash until ${entry.ends_at.slice(0, 10)}.`);
  }
}

async function restore(given: readonly string[], options: ApiOptions): Promise<void> {
  await using opened = await openApi(options);
  const { client } = opened;
  const ids: string[] = [];
  for (const one of given) ids.push(await findTrashed(client, one));
  for (const id of ids) {
    await client.call("POST /api/trash/{conversation_id}/restore", { params: { conversation_id: id } });
    if (options.json === true) printJson("restored", { id, restored: true });
    else console.log(`${id} is back.`);
  }
}

async function empty(options: TrashOptions): Promise<void> {
  await using opened = await openApi(options);
  await confirm(
    {
      lines: [],
      question: "Delete everything in the trash for ever?",
      purpose: "delete",
      refusal: "Nothing was deleted.",
    },
    options,
  );
  let [deleted, held, isLeft] = [0, 0, true];
  while (isLeft) {
    const done = await opened.client.call("POST /api/trash/empty", { timeoutMs: 600_000 });
    deleted += done.deleted;
    ({ held } = done);
    isLeft = done.left && done.deleted > 0;
  }
  if (options.json === true) printJson("emptied", { deleted, held });
  else console.log(`${deleted} deleted${held === 0 ? "" : `, ${held} on hold`}.`);
}
