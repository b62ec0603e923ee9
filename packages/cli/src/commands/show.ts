import type { ConvokeClient } from "@convoke/client";
import type { Command } from "commander";
import { conversationArgument, findConversation } from "../api/find-conversation.ts";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";
import { pageText } from "../print/page-text.ts";
import { createPaint } from "../print/paint.ts";
import { RowPrinter } from "../print/row-printer.ts";

type ShowOptions = ApiOptions & { readonly full?: true; readonly markdown?: true };

export function addShow(program: Command): void {
  withServer(
    program
      .command("show")
      .description("Show what happened in a conversation, through the pager at a terminal")
      .argument("<id>", conversationArgument)
      .option("--full", "texts as a whole, not their first and last lines")
      .option("--markdown", "as Markdown"),
  ).action(show);
}

async function show(given: string, options: ShowOptions): Promise<void> {
  await using opened = await openApi(options);
  const { client } = opened;
  const id = await findConversation(client, given);
  if (options.json === true) await printEvents(client, id);
  else if (options.markdown === true) await pageText(markdownLines(client, id));
  else await pageText(lines(client, id, options.full === true));
}

async function printEvents(client: ConvokeClient, id: string): Promise<void> {
  for await (const event of client.events(id)) process.stdout.write(`${JSON.stringify(event)}\n`);
}

async function* lines(client: ConvokeClient, id: string, isFull: boolean): AsyncGenerator<string> {
  const printer = new RowPrinter(createPaint(process.stdout), isFull ? Infinity : undefined);
  for await (const event of client.events(id)) yield* printer.see(event);
}

async function* markdownLines(client: ConvokeClient, id: string): AsyncGenerator<string> {
  const reply = await client.open("GET /api/conversations/{conversation_id}/transcript", {
    params: { conversation_id: id },
    timeoutMs: 600_000,
  });
  yield (await reply.text()).trimEnd();
}
