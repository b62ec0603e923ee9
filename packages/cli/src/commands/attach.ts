import type { TerminalFrame, TerminalInput } from "@convoke/protocol";
import type { Command } from "commander";
import { conversationArgument, findConversation } from "../api/find-conversation.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";
import { openClient, type ServerOptions } from "../open-client.ts";
import { withStore } from "./store-options.ts";

type AttachOptions = ServerOptions & { readonly terminal: string; readonly watch?: true };

const notes = `
The server is the one that runs on the data folder, or that of --server, with
the key in SESSION_API_KEY. Ctrl-] gives the terminal back to the agent
and leaves. While you have it, the agent's commands in it wait; the log of the
conversation tells when you took it and when you gave it back.`;

export function addAttach(program: Command): void {
  const command = program
    .command("attach")
    .description("Attach to a terminal of an agent, work in it, and give it back")
    .argument("<conversation>", conversationArgument)
    .option("--terminal <name>", "name of the terminal", "main")
    .option("--watch", "watch only; the agent keeps the terminal");
  withStore(command, "the data folder whose server is used (default ~/.convoke)")
    .option("--server <url>", "use this server, with the key in SESSION_API_KEY")
    .addHelpText("after", notes)
    .action(attach);
}

/** What Ctrl-] sends. */
const leaveKey = "\u001d";

async function attach(given: string, options: AttachOptions): Promise<void> {
  const { stdin, stdout } = process;
  const isWatching = options.watch === true;
  if (!isWatching && !stdin.isTTY) {
    const detail = "Attaching needs an interactive terminal. Use --watch to watch without one.";
    throw new CommandError(detail, exitCodes.usage);
  }
  await using opened = await openClient(options, {
    environment: configuredEnvironment(),
    openOwn: async () => {
      throw new CommandError(
        "No server is running, so no agent has a terminal. Start convoke serve, or name one with --server.",
        exitCodes.usage,
      );
    },
  });
  const { client } = opened;
  const conversationId = await findConversation(client, given);
  const leaving = new AbortController();
  let isOtherScreen = false;
  const leave = (): void => leaving.abort();
  process.once("SIGTERM", leave).once("SIGHUP", leave);
  if (isWatching) process.once("SIGINT", leave);
  else stdin.setRawMode(true);
  try {
    const inputs = isWatching ? nothing(leaving.signal) : keys(stdin, stdout, leaving.signal);
    const frames = client.attachTerminal(conversationId, { terminal: options.terminal, inputs });
    for await (const frame of frames) {
      if ("text" in frame) isOtherScreen = endsOnOtherScreen(frame.text) ?? isOtherScreen;
      show(frame, isWatching);
    }
  } finally {
    leave();
    if (!isWatching) stdin.setRawMode(false);
    stdin.pause();
    // Whatever the screen was left in: its own colours, its cursor, the usual screen.
    stdout.write(`${isOtherScreen ? "\u001b[?1049l" : ""}\u001b[0m\u001b[?25h\u001b[?2004l\r\n`);
  }
}

/** Whether a program has the whole screen behind this text; null where the text does not say. */
function endsOnOtherScreen(text: string): boolean | null {
  // oxlint-disable-next-line no-control-regex -- control sequences are what is looked for
  const last = [...text.matchAll(/\u001bc|\u001b\[\?1049([hl])/g)].at(-1);
  return last === undefined ? null : last[1] === "h";
}

function show(frame: TerminalFrame, isWatching: boolean): void {
  if (frame.type === "screen" || frame.type === "output") process.stdout.write(frame.text);
  if (frame.type !== "refused") return;
  if (frame.reason.startsWith("There is no terminal")) throw new CommandError(frame.reason);
  if (!isWatching) process.stdout.write(`\r\n[${frame.reason}]\r\n`);
}

/** Takes the terminal, forwards input and changes of size, until the user leaves it. */
async function* keys(
  stdin: NodeJS.ReadStream,
  stdout: NodeJS.WriteStream,
  signal: AbortSignal,
): AsyncGenerator<TerminalInput> {
  const waiting: TerminalInput[] = [{ type: "take", ...sizeOf(stdout) }];
  let wake = (): void => {};
  const push = (input: TerminalInput): void => {
    waiting.push(input);
    wake();
  };
  const onData = (text: string): void => {
    const end = text.indexOf(leaveKey);
    const typed = end === -1 ? text : text.slice(0, end);
    if (typed !== "") push({ type: "type", text: typed });
    if (end !== -1) push({ type: "give" });
  };
  const onResize = (): void => push({ type: "resize", ...sizeOf(stdout) });
  const onAbort = (): void => push({ type: "give" });
  stdin.setEncoding("utf8").on("data", onData).resume();
  stdout.on("resize", onResize);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    for (;;) {
      const input = waiting.shift();
      if (input === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else yield input;
      if (input?.type === "give") return;
    }
  } finally {
    stdin.off("data", onData);
    stdout.off("resize", onResize);
    signal.removeEventListener("abort", onAbort);
  }
}

/** Watch only: input is ignored except for leaving. */
async function* nothing(signal: AbortSignal): AsyncGenerator<TerminalInput> {
  if (!signal.aborted)
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  yield { type: "give" };
}

function sizeOf({ columns, rows }: Partial<Pick<NodeJS.WriteStream, "columns" | "rows">>) {
  // Without a terminal as output the size is unknown.
  return { columns: columns ?? 80, rows: rows ?? 24 };
}
