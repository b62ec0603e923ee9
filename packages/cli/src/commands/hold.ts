import type { Command } from "commander";
import { conversationArgument, findConversation } from "../api/find-conversation.ts";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";
import { printJson } from "../print/json.ts";
import { printable } from "../print/printable.ts";

type HoldOptions = ApiOptions & { readonly reason: string };

const hold = "/api/conversations/{conversation_id}/hold";

export function addHold(program: Command): void {
  withServer(
    program
      .command("hold")
      .description("Hold a conversation: nothing deletes it until the hold is lifted")
      .argument("<id>", conversationArgument)
      .option("--reason <text>", "what who wants to delete it reads", ""),
  ).action(setHold);
}

export function addUnhold(program: Command): void {
  withServer(
    program
      .command("unhold")
      .description("Lift the hold of a conversation")
      .argument("<id>", conversationArgument),
  ).action(liftHold);
}

export function addHolds(program: Command): void {
  withServer(program.command("holds").description("List the conversations that are on hold")).action(list);
}

async function setHold(given: string, { reason, ...options }: HoldOptions): Promise<void> {
  await using opened = await openApi(options);
  const id = await findConversation(opened.client, given);
  const set = await opened.client.call(`PUT ${hold}`, { params: { conversation_id: id }, body: { reason } });
  if (options.json === true) printJson("hold", set);
  else console.log(`${id} is on hold.`);
}

async function liftHold(given: string, options: ApiOptions): Promise<void> {
  await using opened = await openApi(options);
  const id = await findConversation(opened.client, given);
  await opened.client.call(`DELETE ${hold}`, { params: { conversation_id: id } });
  if (options.json === true) printJson("unhold", { id, held: false });
  else console.log(`The hold of ${id} is lifted.`);
}

async function list(options: ApiOptions): Promise<void> {
  await using opened = await openApi(options);
  const { items } = await opened.client.call("GET /api/holds");
  for (const each of items)
    if (options.json === true) printJson("hold", each);
    else console.log(printable(`${each.conversation_id}  ${each.held_at}  ${each.reason}`.trimEnd()));
  if (items.length === 0 && options.json !== true) console.log("Nothing is on hold.");
}
