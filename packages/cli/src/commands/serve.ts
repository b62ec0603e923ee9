import { flushCompileCache } from "node:module";
import { homedir } from "node:os";
import type { ConfigOverrides } from "@convoke/server";
import type { findBubblewrap } from "@convoke/server/find-bubblewrap";
import { Option, type Command } from "commander";
import type { Node } from "../open-node.ts";
import { parseLogLevel, parsePort } from "./parse-options.ts";

type ServeOptions = {
  readonly host?: string;
  readonly port?: number;
  readonly dataDir?: string;
  readonly workspaceRoot?: string;
  readonly sandbox?: string;
  readonly auth: boolean;
  readonly json?: true;
  readonly logLevel: ReturnType<typeof parseLogLevel>;
};

export function addServe(program: Command): void {
  program
    .command("serve")
    .description("Serve conversations over REST and WebSocket until stopped")
    .option("--host <address>", "address to listen on (default 127.0.0.1)")
    .option("--port <number>", "port to listen on, 0 for any free one (default 8000)", parsePort)
    .option("--data-dir <directory>", "where conversations are kept (default ~/.convoke)")
    .option(
      "--workspace-root <directory>",
      "where relative working directories are (default: the current directory)",
    )
    .option(
      "--sandbox <backends>",
      "auto, off, or bubblewrap, process, docker with commas between; the first is the default (default auto)",
    )
    .option("--no-auth", "let everyone on this machine in without a key; loopback only")
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
  const overrides: ConfigOverrides = {
    ...(options.host === undefined ? {} : { host: options.host }),
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(options.dataDir === undefined ? {} : { dataDir: options.dataDir }),
    ...(options.workspaceRoot === undefined ? {} : { workspaceRoot: options.workspaceRoot }),
    ...(options.sandbox === undefined ? {} : { sandbox: options.sandbox }),
    isAuthDisabled: !options.auth,
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
  await using node = await openNode(overrides, options.logLevel, { hasSandboxes: true, ...trial });
  await untilStopped(options, node.server.url, welcome(node));
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

function welcome({ server, config }: Node): string[] {
  const { url, sessionKey, sandboxes } = server;
  const lines = [
    `Convoke is listening on ${url}`,
    `  data   ${tilde(config.dataDir)}`,
    `  sandboxes  ${sandboxes ?? (config.sandbox.use.length === 0 ? "off" : "none here: another server on the same data folder has them")}`,
  ];
  if (sessionKey === null)
    return [
      ...lines,
      "  key    none: everyone on this machine can use it",
      `  try    curl ${url}/api/tools/`,
    ];
  const isShown = sessionKey.file !== null && sessionKey.isNew;
  if (sessionKey.file === null)
    lines.push("  key    as configured (SESSION_API_KEY or OH_SESSION_API_KEYS_0, ...)");
  else if (isShown)
    lines.push(`  key    ${sessionKey.key}   (new, shown once; kept in ${tilde(sessionKey.file)})`);
  else lines.push(`  key    in ${tilde(sessionKey.file)}`);
  const key =
    sessionKey.file === null
      ? "$SESSION_API_KEY"
      : isShown
        ? sessionKey.key
        : `$(cat ${tilde(sessionKey.file)})`;
  return [...lines, `  try    curl -H "X-Session-API-Key: ${key}" ${url}/api/tools/`];
}

function tilde(path: string): string {
  const home = homedir();
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
