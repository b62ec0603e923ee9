import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { WhileRunning } from "@convoke/protocol";
import { Option, type Command } from "commander";
import { chooseConversation } from "../chat/talk/choose-conversation.ts";
import { Chat } from "../chat/chat.ts";
import { readClipboardImage } from "../chat/input/clipboard-image.ts";
import { TypeAhead } from "../chat/input/type-ahead.ts";
import { History } from "../chat/input/history.ts";
import { Attention, notifications, type Notifications } from "../chat/screen/attention.ts";
import { editText, showInPager } from "../chat/screen/other-programs.ts";
import { PlainScreen } from "../chat/screen/plain-screen.ts";
import { Screen } from "../chat/screen/screen.ts";
import { TerminalSession } from "../chat/screen/terminal-session.ts";
import { readTheme, themeNames } from "../chat/screen/theme-file.ts";
import { ChangeableTheme, createTheme } from "../chat/screen/theme.ts";
import { findLastConversation } from "../chat/talk/offer.ts";
import { userFile } from "../configuration/configuration-files.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { openClient, type OpenedClient } from "../open-client.ts";
import { chooseModel } from "../run/choose-model.ts";
import { read } from "@convoke/server/setting";
import { settings } from "@convoke/server/settings";
import { parseConfirm, startRequest, type Confirm } from "../run/start-request.ts";
import { whileRunningModes } from "../run/while-running.ts";
import { parseLogLevel } from "./parse-options.ts";
import { withStore, type StoreOptions } from "./store-options.ts";

type ChatOptions = StoreOptions & {
  readonly continue?: true;
  readonly new?: true;
  readonly workspace: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly confirm: Confirm;
  readonly plan?: true;
  readonly whileRunning?: WhileRunning;
  readonly sandbox?: string;
  readonly network?: string;
  readonly server?: string;
  readonly full?: true;
  readonly verbose?: true;
  readonly ascii?: true;
  readonly plain?: true;
  readonly notify?: Notifications;
  readonly theme?: string;
  readonly logLevel: ReturnType<typeof parseLogLevel>;
};

const notes = `
With a screen reader use --plain.
Everything that was said stays in the terminal, to scroll, search and copy.
/help inside tells the keys. With a conversation's id, or its beginning, that
conversation goes on; -c continues the newest one of this folder.
The model of a new conversation comes from LLM_MODEL, LLM_API_KEY and
LLM_BASE_URL, else it is the one that is stored on the page. The server is the
one that runs on the data folder; where none does, one is started for the time,
and its runs pause when you leave.
In a folder with a conversation of the last day, you are asked whether to go on.
NO_COLOR, PAGER, VISUAL and EDITOR work as usual.`;

export function addChat(program: Command, keepCompiled: () => void): void {
  const command = program
    .command("chat")
    .description("Talk with an agent in this terminal and watch it work")
    .argument("[conversation]", "the id of a conversation to go on with, or its beginning")
    .option("-c, --continue", "go on with the newest conversation of this folder")
    .option("--new", "begin a new conversation without asking")
    .option("--workspace <directory>", "where the agent works", ".")
    .option("--model <provider/model>", "overrides LLM_MODEL")
    .option("--base-url <url>", "overrides LLM_BASE_URL")
    .option(
      "--confirm <when>",
      "never, risky or always: when to ask before an action runs",
      parseConfirm,
      "risky",
    )
    .addOption(
      new Option(
        "--while-running <mode>",
        "what a message does while the agent works (default steer)",
      ).choices(whileRunningModes),
    )
    .option("--plan", "plan first; the agent changes nothing but its plan")
    .addOption(
      new Option(
        "--sandbox <kind>",
        "the wall around the agent's tools: auto, bubblewrap, docker, or off to run them as your user",
      ).choices(["auto", "bubblewrap", "docker", "off"]),
    )
    .option(
      "--network <network>",
      "what the agent's commands reach: none, registries, all, or hosts with commas between (default registries; CONVOKE_NETWORK)",
    )
    .option("--full", "show the whole conversation, not its newest 40 steps")
    .option("--verbose", "show the end of every output, and all that the model thinks")
    .option("--plain", "for screen readers: lines alone, nothing that moves (also ACCESSIBLE=1, TERM=dumb)")
    .option("--ascii", "words and ASCII in the place of signs")
    .option("--theme <name>", "default, mono, high-contrast, or a theme file (CONVOKE_CHAT_THEME)")
    .addOption(
      new Option(
        "--notify <how>",
        "how to call you when the window has no focus (default bell; CONVOKE_CHAT_NOTIFY)",
      ).choices(notifications),
    );
  withStore(command, "where conversations are stored (default ~/.convoke)")
    .option(
      "--server <url>",
      "use this running server, with the key in SESSION_API_KEY, instead of starting one",
    )
    .option(
      "--log-level <level>",
      "fatal, error, warn, info, debug or silent; logs go to stderr",
      parseLogLevel,
      "silent",
    )
    .addHelpText("after", notes)
    .action((id: string | undefined, options: ChatOptions) => chat(id, options, keepCompiled));
}

async function chat(id: string | undefined, options: ChatOptions, keepCompiled: () => void): Promise<void> {
  const { stdin: input, stdout: output, env } = process;
  if (!input.isTTY || !output.isTTY)
    throw new CommandError(
      'convoke chat needs a terminal for both input and output. In a pipe or a script use convoke run "<task>".',
      exitCodes.usage,
    );
  const folder = resolve(options.workspace);
  // A terminal that knows no sequences cannot move its cursor.
  const isPlain = options.plain === true || Boolean(env["ACCESSIBLE"]) || env["TERM"] === "dumb";
  // A start takes a second on a busy machine, and people type at once.
  using typed = isPlain ? null : new TypeAhead(input, () => process.kill(process.pid, "SIGINT"));
  await using opened = await openServer(options, keepCompiled, () => typed?.end());
  const { client } = opened;
  const chosen =
    options.new === true
      ? null
      : await chooseConversation(client, { id, folder, isGoingOn: options.continue === true });
  const state = env["XDG_STATE_HOME"] || join(homedir(), ".local/state");
  const history = await History.open(join(state, "convoke/history"), folder);
  const hasColour = !isPlain && !env["NO_COLOR"];
  const settled = configuredEnvironment();
  const themeOptions = { hasColour, isAscii: isPlain || options.ascii === true, mayMove: hasColour };
  const themeFolder = join(dirname(userFile(env) ?? state), "themes");
  const changeTheme = async (name: string): Promise<void> =>
    theme.change(createTheme(themeOptions, await readTheme(name, themeFolder)));
  const theme = new ChangeableTheme(createTheme(themeOptions));
  await changeTheme(options.theme ?? read(settled, settings.chat_theme));
  using terminal = new TerminalSession({ input, output }, isPlain, typed?.end());
  const write = (text: string): void => terminal.write(text);
  const nowMs = (): number => Date.now();
  const attention = new Attention({
    write,
    notifications: isPlain ? "off" : (options.notify ?? read(settled, settings.chat_notify)),
    hasTitle: !isPlain,
    isTmux: env["TMUX"] !== undefined,
  });
  const session = new Chat({
    client,
    terminal,
    screen: isPlain
      ? new PlainScreen({ write, size: terminal.size, nowMs })
      : new Screen(write, terminal.size),
    theme,
    history,
    attention,
    nowMs,
    later: (ms, callback) => {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
    isVerbose: options.verbose === true,
    firstRows: options.full === true ? Number.POSITIVE_INFINITY : 40,
    plansFirst: options.plan === true,
    begin: async (content, { plansFirst }) => {
      const llm = { ...(await chooseModel(client, options)), stream: true };
      const { plan: _, ...rest } = options;
      const request = startRequest(content, plansFirst ? { ...rest, plan: true } : rest, llm);
      return await client.startConversation(request);
    },
    page: (text) => showInPager(text, env),
    edit: (text) => editText(text, env),
    themes: { names: () => themeNames(themeFolder), use: changeTheme },
    readClipboardImage: () => readClipboardImage({ environment: env, platform: process.platform }),
  });
  const leave = (): void => session.leave();
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) process.once(signal, leave);
  if (chosen !== null) await session.open(chosen);
  else if (options.new !== true) {
    const last = await findLastConversation(client, folder, nowMs());
    if (last !== null) session.offer(last);
  }
  await session.run();
  terminal[Symbol.dispose]();
  sayGoodbye(session, opened);
}

function openServer(
  options: ChatOptions,
  keepCompiled: () => void,
  beforeQuestion: () => void,
): Promise<OpenedClient> {
  return openClient(options, {
    environment: process.env,
    openOwn: async () => {
      // A chat on a server that runs already does not load one of its own.
      const { openOwnServer } = await import("../open-own-server.ts");
      const own = await openOwnServer({
        ...options,
        wall: options.sandbox,
        withoutWall: "ask",
        beforeQuestion,
        isJson: false,
      });
      keepCompiled();
      return own;
    },
  });
}

function sayGoodbye({ link, view }: Chat, { source }: OpenedClient): void {
  if (link === null) return;
  const isRunning = view.status === "running";
  const what =
    view.status === "waiting_for_confirmation"
      ? "The agent waits for your answer. "
      : !isRunning
        ? ""
        : source === "own"
          ? "The agent is paused. "
          : "The agent goes on. ";
  console.log(`${what}To come back: convoke chat ${link.id.slice(0, 8)}`);
}
