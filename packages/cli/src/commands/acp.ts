import { Console } from "node:console";
import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { version } from "@convoke/server";
import { read } from "@convoke/server/setting";
import { settings } from "@convoke/server/settings";
import { Option, type Command } from "commander";
import { createAcpAgent } from "../acp/acp-agent.ts";
import type { ModeId } from "../acp/mapping.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";
import { openClient } from "../open-client.ts";
import { openOwnServer } from "../open-own-server.ts";
import { parseLogLevel } from "./parse-options.ts";
import { withStore, type StoreOptions } from "./store-options.ts";

type AcpOptions = StoreOptions & {
  readonly model?: string;
  readonly baseUrl?: string;
  readonly mode: ModeId;
  readonly sandbox?: string;
  readonly network?: string;
  readonly server?: string;
  readonly logLevel: ReturnType<typeof parseLogLevel>;
};

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
    .description("Be the agent of an editor, by the Agent Client Protocol")
    .option("--model <provider/model>", "the model of new sessions; overrides LLM_MODEL")
    .option("--base-url <url>", "overrides LLM_BASE_URL")
    .addOption(
      new Option("--mode <mode>", "how new sessions ask before actions, or plan first")
        .choices(["ask", "risky", "auto", "plan"])
        .default("risky"),
    )
    .addOption(
      new Option(
        "--sandbox <kind>",
        "the wall around the tools of a server that is started: auto, bubblewrap, or off to run them as your user",
      ).choices(["auto", "bubblewrap", "off"]),
    )
    .option("--network <network>", "what commands reach behind that wall, as of convoke run");
  withStore(command, "where conversations are stored (default ~/.convoke)")
    .option("--server <url>", "use this running server, with the key in SESSION_API_KEY")
    .option(
      "--log-level <level>",
      "fatal, error, warn, info, debug or silent; logs go to stderr",
      parseLogLevel,
      "error",
    )
    .addHelpText("after", notes)
    .action((options: AcpOptions) => acp(options, keepCompiled));
}

async function acp(options: AcpOptions, keepCompiled: () => void): Promise<void> {
  // Nothing but frames may be on stdout, whatever a library has to say.
  globalThis.console = new Console(process.stderr, process.stderr);
  const environment = configuredEnvironment();
  await using opened = await openClient(options, {
    environment,
    openOwn: async () => {
      const { sandbox: wall } = options;
      // The editor has stdin, so nobody can be asked.
      const own = await openOwnServer({ ...options, wall, withoutWall: "refuse", isJson: true });
      keepCompiled();
      return own;
    },
  });
  const app = createAcpAgent({
    client: opened.client,
    version,
    mode: options.mode,
    model: {
      model: options.model ?? read(environment, settings.llm_model),
      apiKey: read(environment, settings.llm_api_key),
      baseUrl: options.baseUrl ?? read(environment, settings.llm_base_url),
    },
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
