import type { ConvokeClient } from "@convoke/client";
import type { PendingApproval } from "@convoke/protocol";
import type { Command } from "commander";
import { conversationArgument, findConversation, shortIds } from "../api/find-conversation.ts";
import { printConversation } from "../api/print-conversation.ts";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";
import { describeAction } from "../answer-approvals.ts";
import { CommandError } from "../exit-codes.ts";
import { printJson } from "../print/json.ts";
import { printTable } from "../print/table.ts";

type RejectOptions = ApiOptions & { readonly reason?: string };

const actionArgument = "id of one action; all that wait without it";

export function addApprovals(program: Command): void {
  withServer(
    program
      .command("approvals")
      .description("List the actions that wait for an answer, in all conversations or in one")
      .argument("[id]", conversationArgument),
  ).action(list);
}

export function addApprove(program: Command): void {
  withServer(
    program
      .command("approve")
      .description("Approve the actions of a conversation that wait")
      .argument("<id>", conversationArgument)
      .argument("[action]", actionArgument),
  ).action((given: string, action: string | undefined, options: ApiOptions) =>
    answer(given, action, true, options),
  );
}

export function addReject(program: Command): void {
  withServer(
    program
      .command("reject")
      .description("Reject the actions of a conversation that wait")
      .argument("<id>", conversationArgument)
      .argument("[action]", actionArgument)
      .option("--reason <text>", "what the agent is told"),
  ).action((given: string, action: string | undefined, options: RejectOptions) =>
    answer(given, action, false, options),
  );
}

async function list(given: string | undefined, options: ApiOptions): Promise<void> {
  await using opened = await openApi(options);
  const { client } = opened;
  const items =
    given === undefined
      ? (await client.call("GET /api/approvals")).items
      : await waiting(client, await findConversation(client, given));
  if (options.json === true) for (const item of items) printJson("approvals", toLine(item));
  else if (items.length === 0) console.log("No action waits for an answer.");
  else printTable(columns, toRows(items));
}

const columns = [
  { heading: "ID" },
  { heading: "ACTION" },
  { heading: "RISK" },
  { heading: "CALL", isCut: true },
] as const;

function toRows(items: readonly PendingApproval[]): string[][] {
  const ids = shortIds(items.map((item) => item.conversation_id));
  return items.map((item, at) => [ids[at]!, item.action_id, item.security_risk, describeAction(item)]);
}

function toLine(item: PendingApproval) {
  const { conversation_id, action_id, tool_name, security_risk: risk, reasons, deadline = null } = item;
  return { conversation_id, action_id, tool_name, risk, reasons, deadline };
}

async function answer(
  given: string,
  action: string | undefined,
  accept: boolean,
  options: RejectOptions,
): Promise<void> {
  await using opened = await openApi(options);
  const { client } = opened;
  const id = await findConversation(client, given);
  const found = await waiting(client, id);
  const asked = action === undefined ? found : found.filter((item) => item.action_id === action);
  if (asked.length === 0)
    throw new CommandError(
      action === undefined
        ? `No action of ${id} waits for an answer.`
        : `Action ${action} does not wait for an answer. See convoke approvals ${id}.`,
    );
  const more = options.reason === undefined ? {} : { reason: options.reason };
  const answers = asked.map(({ action_id }) => ({ action_id, accept, ...more }));
  await client.call("POST /api/conversations/{conversation_id}/approvals", {
    params: { conversation_id: id },
    body: { answers },
  });
  await printConversation(client, id, options);
}

async function waiting(client: ConvokeClient, id: string): Promise<readonly PendingApproval[]> {
  const params = { conversation_id: id };
  return (await client.call("GET /api/conversations/{conversation_id}/approvals", { params })).items;
}
