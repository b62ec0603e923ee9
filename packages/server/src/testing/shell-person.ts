import type { ConvokeClient } from "@convoke/client";
import type { ShellFrame, ShellInput } from "@convoke/protocol";
import type { TerminalUpdate } from "@convoke/tool-host";
import { XtermPerson } from "@convoke/tool-host/testing";

/** A person with a real xterm, attached to a shell of a conversation. */
export function openShellPerson(client: ConvokeClient, conversationId: string, shell: string): XtermPerson {
  return new XtermPerson((inputs, signal) =>
    toUpdates(
      client.attachShell(conversationId, { shell, inputs: inputs as AsyncIterable<ShellInput>, signal }),
    ),
  );
}

async function* toUpdates(frames: AsyncIterable<ShellFrame>): AsyncGenerator<TerminalUpdate> {
  for await (const frame of frames) {
    if (frame.type === "ended") yield { type: "output", text: `[ended ${frame.exit_code}]` };
    else if (frame.type === "screen") yield { ...frame, isLent: false, isYours: true };
    else yield frame;
  }
}
