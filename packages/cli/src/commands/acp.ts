import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { version } from "@convoke/server/version";
import type { Command } from "commander";
import { createAcpAgent } from "../acp/acp-agent.ts";
import { openForStdio, withStdioOptions, type StdioOptions } from "./stdio-program.ts";

const notes = `
For an editor that starts agents by the Agent Client Protocol: frames come on
stdin and go to stdout, words for people go to stderr. The server is the one
that runs on the data folder; where none does, one is started for the time, and
its runs pause when the editor leaves. The model of new sessions comes from
LLM_MODEL, LLM_API_KEY and LLM_BASE_URL, else from the settings of the server.
docs/guides/editors.md has the configuration for each editor.`;

export function addAcp(program: Command, keepCompiled: () => void): void {
  const command = program
    .command("acp")
    .description("Be the agent of an editor, by the Agent Client Protocol");
  withStdioOptions(command, "sessions")
    .addHelpText("after", notes)
    .action((options: StdioOptions) => acp(options, keepCompiled));
}

async function acp(options: StdioOptions, keepCompiled: () => void): Promise<void> {
  const { opened, model } = await openForStdio(options, keepCompiled);
  await using _ = opened;
  const app = createAcpAgent({
    client: opened.client,
    version,
    mode: options.mode,
    model,
  });
  const connection = app.connect(
    ndJsonStream(
      Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
      Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    ),
  );
  const leave = (): void => connection.close();
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) process.once(signal, leave);
  await connection.closed;
  process.stdin.destroy();
}
