import type { ConvokeClient } from "@convoke/client";
import type { Command } from "commander";
import { conversationArgument, findConversation } from "../api/find-conversation.ts";
import { printConversation } from "../api/print-conversation.ts";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";

/** `convoke stop`, `pause` and `interrupt`. */
export const addStop = haltCommand(
  "stop",
  "End the work of a conversation's agent now",
  async (client, id) => {
    await client.stop(id);
  },
);

export const addPause = haltCommand(
  "pause",
  "Pause the agent of a conversation before its next tool call",
  (client, id) => client.pause(id),
);

export const addInterrupt = haltCommand(
  "interrupt",
  "Pause the agent of a conversation now, ending the running request and tools",
  (client, id) => client.interrupt(id),
);

type Halt = (client: ConvokeClient, id: string) => Promise<void>;

function haltCommand(name: string, description: string, halt: Halt): (program: Command) => void {
  return (program) => {
    const command = program.command(name).description(description).argument("<id>", conversationArgument);
    withServer(command).action(async (given: string, options: ApiOptions) => {
      await using opened = await openApi(options);
      const id = await findConversation(opened.client, given);
      await halt(opened.client, id);
      await printConversation(opened.client, id, options);
    });
  };
}
