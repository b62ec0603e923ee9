import { Console } from "node:console";
import { read } from "@convoke/server/setting";
import { settings } from "@convoke/server/settings";
import { Option, type Command } from "commander";
import type { ModeId } from "../acp/mapping.ts";
import type { ModelChoice } from "../acp/start-session.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";
import { openClient, type OpenedClient } from "../open-client.ts";
import { openOwnServer } from "../open-own-server.ts";
import { parseLogLevel } from "./parse-options.ts";
import { withStore, type StoreOptions } from "./store-options.ts";

/** The flags of a command that another program starts and talks to over stdin and stdout. */
export type StdioOptions = StoreOptions & {
  readonly model?: string;
  readonly baseUrl?: string;
  readonly mode: ModeId;
  readonly sandbox?: string;
  readonly network?: string;
  readonly server?: string;
  readonly logLevel: ReturnType<typeof parseLogLevel>;
};

/** Adds the flags of {@link StdioOptions}; `things` is what the other program begins, such as "sessions". */
export function withStdioOptions(command: Command, things: string): Command {
  command
    .option("--model <provider/model>", `the model of new ${things}; overrides LLM_MODEL`)
    .option("--base-url <url>", "overrides LLM_BASE_URL")
    .addOption(
      new Option("--mode <mode>", `how new ${things} ask before actions, or plan first`)
        .choices(["ask", "risky", "auto", "plan"])
        .default("risky"),
    )
    .addOption(
      new Option(
        "--sandbox <kind>",
        "the wall around the tools of a server that is started: auto, bubblewrap, docker, or off to run them as your user",
      ).choices(["auto", "bubblewrap", "docker", "off"]),
    )
    .option("--network <network>", "what commands reach behind that wall, as of convoke run");
  return withStore(command, "where conversations are stored (default ~/.convoke)")
    .option("--server <url>", "use this running server, with the key in SESSION_API_KEY")
    .option(
      "--log-level <level>",
      "fatal, error, warn, info, debug or silent; logs go to stderr",
      parseLogLevel,
      "error",
    );
}

/** The server that the command talks to, and the model of what is begun. From here on everything that is logged goes to stderr. */
export async function openForStdio(
  options: StdioOptions,
  keepCompiled: () => void,
): Promise<{ readonly opened: OpenedClient; readonly model: ModelChoice }> {
  // Only messages of the protocol may be on stdout, whatever a library has to say.
  globalThis.console = new Console(process.stderr, process.stderr);
  const environment = configuredEnvironment();
  const opened = await openClient(options, {
    environment,
    openOwn: async () => {
      // The other program has stdin, so nobody can be asked.
      const wall = options.sandbox;
      const own = await openOwnServer({ ...options, wall, withoutWall: "refuse", isJson: true });
      keepCompiled();
      return own;
    },
  });
  const model = {
    model: options.model ?? read(environment, settings.llm_model),
    apiKey: read(environment, settings.llm_api_key),
    baseUrl: options.baseUrl ?? read(environment, settings.llm_base_url),
  };
  return { opened, model };
}
