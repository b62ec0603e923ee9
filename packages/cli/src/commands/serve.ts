import { flushCompileCache } from "node:module";
import type { ConfigOverrides } from "@convoke/server";
import type { findBubblewrap } from "@convoke/server/find-bubblewrap";
import { Option, type Command } from "commander";
import { canOpenBrowser, openBrowser } from "../open-browser.ts";
import { welcome } from "../print/welcome.ts";
import { announceServer, type RunningServer } from "../running-servers.ts";
import { findWebDir } from "../find-web-dir.ts";
import type { Node } from "../open-node.ts";
import { parseLogLevel, parsePort } from "./parse-options.ts";
import { storeOverrides, withStore, type StoreOptions } from "./store-options.ts";

type ServeOptions = StoreOptions & {
  readonly host?: string;
  readonly port?: number;
  readonly workspaceRoot?: string;
  readonly sandbox?: string;
  readonly auth: boolean;
  readonly json?: true;
  readonly open?: true;
  readonly logLevel: ReturnType<typeof parseLogLevel>;
};

export function addServe(program: Command): void {
  const command = program
    .command("serve")
    .description("Serve conversations over REST and WebSocket until stopped")
    .option("--host <address>", "address to listen on (default 127.0.0.1)")
    .option("--port <number>", "port to listen on, 0 for any free one (default 8000)", parsePort);
  withStore(command, "where conversations are kept (default ~/.convoke)")
    .option(
      "--workspace-root <directory>",
      "where relative working directories are (default: the current directory)",
    )
    .option(
      "--sandbox <backends>",
      "auto, off, or bubblewrap, process, docker with commas between; the first is the default (default auto)",
    )
    .option("--no-auth", "let everyone on this machine in without a key; loopback only")
    .option("--open", "open its page in a browser, or print a link that opens it, once")
    .option("--json", 'print one line {"url": ..., "pid": ...} when ready, and nothing else')
    .addOption(
      new Option("--log-level <level>", "fatal, error, warn, info, debug or silent; logs go to stderr")
        .argParser(parseLogLevel)
        .env("CONVOKE_LOG_LEVEL")
        .default("warn"),
    )
    .action(serve);
}

async function serve(options: ServeOptions): Promise<void> {
  const webDir = findWebDir();
  const overrides: ConfigOverrides = {
    ...(options.host === undefined ? {} : { host: options.host }),
    ...(options.port === undefined ? {} : { port: options.port }),
    ...storeOverrides(options),
    ...(options.workspaceRoot === undefined ? {} : { workspaceRoot: options.workspaceRoot }),
    ...(options.sandbox === undefined ? {} : { sandbox: options.sandbox }),
    isAuthDisabled: !options.auth,
    ...(webDir === null ? {} : { webDir }),
  };
  const trial = await beginTrial(overrides);
  const { openDormantNode, openNode } = await import("../open-node.ts");
  await using dormant = await openDormantNode(overrides, options.logLevel);
  if (dormant !== null) {
    const lines = [
      `Convoke waits on ${dormant.url} for its configuration`,
      `  send   POST ${dormant.url}/api/init`,
    ];
    await untilStopped(options, dormant.url, lines);
    return;
  }
  await using node = await openNode(overrides, options.logLevel, {
    hasSandboxes: true,
    ...trial,
    ...(webDir === null ? {} : { demo: (await import("../watched-demo.ts")).watchedDemo }),
  });
  await using scope = new AsyncDisposableStack();
  const { server, config } = node;
  const running = {
    url: config.webUrl ?? server.url,
    hasPage: config.webDir !== null,
    needsLogin: server.sessionKey !== null,
  };
  scope.use(await announceServer(config.dataDir, running));
  const link = await createLink(options, config, running);
  await untilStopped(options, server.url, welcome(server, config, link ?? pageOf(running)));
}

/** For who started it and looks on, and for nobody else: what a service prints ends up in a log. */
async function createLink(
  { json, open }: ServeOptions,
  { dataDir, database }: Node["config"],
  running: Omit<RunningServer, "pid">,
): Promise<string | null> {
  const { isTTY } = process.stdout;
  if (!running.hasPage || json === true || !(isTTY || open === true)) return null;
  const { createLoginLink } = await import("../login-link.ts");
  const link = await createLoginLink({ dataDir, database }, running);
  if (open === true && canOpenBrowser(process.env, isTTY)) await openBrowser(link, dataDir);
  return link;
}

function pageOf({ url, hasPage, needsLogin }: Omit<RunningServer, "pid">): string | null {
  if (!hasPage) return null;
  return needsLogin ? `${url}/   (a link that logs in: convoke open)` : `${url}/`;
}

/** Begun before the server is loaded: trying takes about as long as loading, and another process does it. */
async function beginTrial(
  overrides: ConfigOverrides,
): Promise<{ readonly bubblewrap?: ReturnType<typeof findBubblewrap> }> {
  const [{ readConfig }, { findBubblewrap, ownAccount }] = await Promise.all([
    import("@convoke/server/config"),
    import("@convoke/server/find-bubblewrap"),
  ]);
  const { use, user } = readConfig(process.env, overrides).sandbox;
  if (use.length === 0) return {};
  return {
    bubblewrap: findBubblewrap({ self: ownAccount(), unprivileged: user, environment: process.env }),
  };
}

async function untilStopped({ json }: ServeOptions, url: string, lines: readonly string[]): Promise<void> {
  const { untilSignalled } = await import("../open-node.ts");
  const stopped = untilSignalled();
  console.log(json === true ? JSON.stringify({ url, pid: process.pid }) : lines.join("\n"));
  // Node would do it at the end, which a server that is killed has not, and without what V8 has dropped of the start by then.
  flushCompileCache();
  await stopped;
  if (json !== true) console.log("Stopping. Runs in progress go on at the next start.");
}
