import type { ConvokeClient } from "@convoke/client";
import type { Command } from "commander";
import { conversationArgument, findConversation } from "../api/find-conversation.ts";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";
import { printJson } from "../print/json.ts";
import { confirm } from "./confirm.ts";

type RmOptions = ApiOptions & { readonly yes?: true };

export function addRm(program: Command): void {
  withServer(
    program
      .command("rm")
      .description("Delete conversations; their workspaces stay")
      .argument("<id...>", conversationArgument)
      .option("--yes", "do not ask"),
  ).action(rm);
}

async function rm(given: readonly string[], options: RmOptions): Promise<void> {
  await using opened = await openApi(options);
  const { client } = opened;
  // All of them first: one that is no conversation deletes nothing.
  const ids = new Set<string>();
  for (const one of given) ids.add(await findConversation(client, one));
  if (options.yes !== true) await askBefore(client, [...ids], options);
  for (const id of ids) {
    await client.deleteConversation(id);
    if (options.json === true) printJson("rm", { id, deleted: true });
    else console.log(`Deleted ${id}.`);
  }
}

async function askBefore(client: ConvokeClient, ids: readonly string[], options: RmOptions): Promise<void> {
  const found = await client.getConversations(ids);
  const what = ids.length === 1 ? "this conversation" : `these ${ids.length} conversations`;
  await confirm(
    {
      lines: ids.map((id, at) => `${id}  ${found[at]?.title ?? ""}`.trimEnd()),
      question: `Delete ${what}?`,
      purpose: "delete",
      refusal: "Nothing was deleted.",
    },
    options,
  );
}
