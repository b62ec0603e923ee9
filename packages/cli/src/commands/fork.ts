import type { Command } from "commander";
import { conversationArgument, findConversation } from "../api/find-conversation.ts";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";
import { printJson } from "../print/json.ts";

type ForkOptions = ApiOptions & { readonly at?: string; readonly title?: string };

export function addFork(program: Command): void {
  withServer(
    program
      .command("fork")
      .description("Copy a conversation into a new one, and print the new id")
      .argument("<id>", conversationArgument)
      .option("--at <event>", "up to this event; the whole conversation without it")
      .option("--title <text>", "title of the new one"),
  ).action(fork);
}

async function fork(given: string, options: ForkOptions): Promise<void> {
  await using opened = await openApi(options);
  const { client } = opened;
  const { id, execution_status: status = "idle" } = await client.call(
    "POST /api/conversations/{conversation_id}/fork",
    {
      params: { conversation_id: await findConversation(client, given) },
      body: {
        ...(options.at === undefined ? {} : { from_event_id: options.at }),
        ...(options.title === undefined ? {} : { title: options.title }),
      },
    },
  );
  if (options.json === true) printJson("conversation", { id, execution_status: status });
  else console.log(id);
}
