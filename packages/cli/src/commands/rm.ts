import type { Command } from "commander";
import { conversationArgument, findConversation } from "../api/find-conversation.ts";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";
import { askLine } from "../ask-approval.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { printJson } from "../print/json.ts";
import { printable } from "../print/printable.ts";

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
  if (options.yes !== true) await askBefore([...ids], await client.getConversations([...ids]), options);
  for (const id of ids) {
    await client.deleteConversation(id);
    if (options.json === true) printJson("rm", { id, deleted: true });
    else console.log(`Deleted ${id}.`);
  }
}

async function askBefore(
  ids: readonly string[],
  found: readonly ({ readonly title?: string | null } | null)[],
  { json }: RmOptions,
): Promise<void> {
  const { stdin: input, stdout: output } = process;
  if (!input.isTTY)
    throw new CommandError(
      "There is no terminal to ask at. Add --yes to delete without a question.",
      exitCodes.usage,
    );
  for (const [at, id] of ids.entries())
    console.error(printable(`${id}  ${found[at]?.title ?? ""}`.trimEnd()));
  const what = ids.length === 1 ? "this conversation" : `these ${ids.length} conversations`;
  const answer = await askLine({ input, output, isJson: json === true }, `Delete ${what}? [y/N] `);
  if (!/^y(es)?$/iu.test(answer)) throw new CommandError("Nothing was deleted.");
}
