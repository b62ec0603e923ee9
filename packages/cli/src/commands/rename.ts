import type { Command } from "commander";
import { conversationArgument, findConversation } from "../api/find-conversation.ts";
import { printConversation } from "../api/print-conversation.ts";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";

export function addRename(program: Command): void {
  withServer(
    program
      .command("rename")
      .description("Give a conversation another title")
      .argument("<id>", conversationArgument)
      .argument("<title>", "its new title"),
  ).action(rename);
}

async function rename(given: string, title: string, options: ApiOptions): Promise<void> {
  await using opened = await openApi(options);
  const id = await findConversation(opened.client, given);
  await opened.client.updateConversation(id, { title });
  await printConversation(opened.client, id, options);
}
