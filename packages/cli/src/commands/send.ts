import { text as readAll } from "node:stream/consumers";
import type { ConvokeClient } from "@convoke/client";
import type { WhileRunning } from "@convoke/protocol";
import { Option, type Command } from "commander";
import { conversationArgument, findConversation } from "../api/find-conversation.ts";
import { printConversation } from "../api/print-conversation.ts";
import { openApiForRun, withServer, type ApiOptions } from "../api/server-command.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { printJson } from "../print/json.ts";
import { whileRunningModes } from "../run/while-running.ts";
import { newestEventId, watchRun } from "../watch-run.ts";

type WaitOptions = ApiOptions & { readonly wait?: true };
type SendOptions = WaitOptions & { readonly whileRunning?: WhileRunning };

const waiting = "follow the run to its end, as run does, and end with its exit code";

export function addSend(program: Command): void {
  withServer(
    program
      .command("send")
      .description("Send a message to a conversation and let its agent work")
      .argument("<id>", conversationArgument)
      .argument("<text>", "the message; - reads it from standard input")
      .option("--wait", waiting)
      .addOption(
        new Option(
          "--while-running <mode>",
          "what it does while the agent works (default: as the conversation has it)",
        ).choices(whileRunningModes),
      ),
  ).action(send);
}

export function addResume(program: Command): void {
  withServer(
    program
      .command("resume")
      .description("Let the agent of a conversation work on; approves the actions that wait")
      .argument("<id>", conversationArgument)
      .option("--wait", waiting),
  ).action(resume);
}

async function send(given: string, text: string, options: SendOptions): Promise<void> {
  const message = text === "-" ? (await readAll(process.stdin)).trimEnd() : text;
  if (message.trim() === "") throw new CommandError("The message is empty.", exitCodes.usage);
  await using opened = await openApiForRun(options, options.wait === true);
  const { client } = opened;
  const id = await findConversation(client, given);
  const afterEventId = await newestEventId({ client, conversationId: id });
  const content = [{ type: "text" as const, text: message }];
  const { whileRunning: mode = null } = options;
  const eventId = await client.sendMessage(id, { role: "user", content, run: true, while_running: mode });
  if (options.wait === true) return await follow(client, id, afterEventId, options);
  const { execution_status: status = "idle" } = await client.getConversation(id);
  if (options.json === true) printJson("send", { id, event_id: eventId, execution_status: status });
  else console.log(`${id}  ${status}`);
}

async function resume(given: string, options: WaitOptions): Promise<void> {
  await using opened = await openApiForRun(options, options.wait === true);
  const { client } = opened;
  const id = await findConversation(client, given);
  const afterEventId = await newestEventId({ client, conversationId: id });
  await client.run(id);
  if (options.wait === true) return await follow(client, id, afterEventId, options);
  await printConversation(client, id, options);
}

async function follow(
  client: ConvokeClient,
  id: string,
  afterEventId: string,
  { json }: WaitOptions,
): Promise<void> {
  process.exitCode = await watchRun({
    client,
    conversationId: id,
    ...(afterEventId === "" ? {} : { afterEventId }),
    isJson: json === true,
    output: process.stdout,
    input: process.stdin,
  });
}
