import type { ConfigOverrides, Server, ServerConfig } from "@convoke/server";
import type { findBubblewrap } from "@convoke/server/find-bubblewrap";
import type { startWriterThread } from "@convoke/server/writer-thread";
import { read } from "@convoke/server/setting";
import { settings } from "@convoke/server/settings";
import { InvalidArgumentError, type Command } from "commander";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { canOpenBrowser, openBrowser } from "../open-browser.ts";
import { welcome } from "../print/welcome.ts";
import { listening } from "../listening.ts";
import { announceServer, type RunningServer } from "../running-servers.ts";
import { isInContainer } from "../in-container.ts";
import { findDocsDir, findWebDir } from "../find-web-dir.ts";
import { ignoreDebugSignal } from "../ignore-debug-signal.ts";
import { takeShare, type ServerFacts, type Share } from "../processes/process-messages.ts";
import { untilSignalled } from "../until-signalled.ts";
import { parseLogLevel, parsePort, parseProcesses } from "./parse-options.ts";
import { folderFlag, storeOverrides, withStore, type StoreOptions } from "./store-options.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";
import { printJson } from "../print/json.ts";

type ServeOptions = StoreOptions & {
  readonly host?: string;
  readonly port?: number;
  readonly workspaceRoot?: string;
  readonly sandbox?: string;
  readonly sandboxSpecs?: string;
  readonly wall?: string;
  readonly network?: string;
  readonly auth: boolean;
  readonly json?: true;
  readonly open?: true;
  readonly logLevel: ReturnType<typeof parseLogLevel>;
  readonly processes: number;
};

/** The flags; what is not among them may be configured. */
type GivenOptions = Omit<ServeOptions, "logLevel" | "processes"> & Partial<ServeOptions>;

/** With what the program gives to the command. */
type Serve = ServeOptions & { readonly keepCompiled: () => void };

export function addServe(program: Command, keepCompiled: () => void): void {
  const command = program
    .command("serve")
    .description("Serve conversations over REST and WebSocket until stopped")
    .option("--host <address>", "address to listen on (default 127.0.0.1)")
    .option("--port <number>", "port to listen on, 0 for any free one (default 8000)", parsePort);
  withStore(command, "where conversations are stored (default ~/.convoke)")
    .option(
      "--workspace-root <directory>",
      "base of relative working directories (default: the current directory)",
    )
    .option(
      "--sandbox <backends>",
      "auto, off, or a comma-separated list of bubblewrap, process, docker; the first is the default (default auto)",
    )
    .option(
      "--sandbox-specs <file>",
      "JSON file with the sandbox specs that users may choose (CONVOKE_SANDBOX_SPECS)",
    )
    .option(
      "--wall <kind>",
      "auto, bubblewrap, docker or off: what agents outside of sandboxes run behind (default auto; CONVOKE_WALL)",
    )
    .option(
      "--network <network>",
      "what walls and sandboxes let out: none, registries, all, or hosts with commas between (default registries; CONVOKE_NETWORK)",
    )
    .option("--no-auth", "require no key: everyone on this machine has access; loopback only")
    .option("--open", "open the page in a browser, or print a one-time link to it")
    .option("--json", 'print one line {"url": ..., "pid": ...} when ready, and nothing else')
    .option(
      "--log-level <level>",
      "fatal, error, warn, info, debug or silent; logs go to stderr (default warn; CONVOKE_LOG_LEVEL)",
      parseLogLevel,
    )
    .option(
      "--processes <number>",
      "server processes behind the port; auto: one per core (default 1; CONVOKE_PROCESSES)",
      parseProcesses,
    )
    .action(async (options: GivenOptions) => serve({ ...options, ...configured(options), keepCompiled }));
}

function configured({ logLevel, processes }: GivenOptions): Pick<ServeOptions, "logLevel" | "processes"> {
  const environment = configuredEnvironment();
  return {
    logLevel: logLevel ?? read(environment, settings.log_level),
    processes: processes ?? readProcesses(read(environment, settings.processes)),
  };
}

/** An error of the setting names the setting. */
function readProcesses(text: string): number {
  try {
    return parseProcesses(text);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new CommandError(`CONVOKE_PROCESSES: ${error.message}`, exitCodes.usage);
  }
}

async function serve(options: Serve): Promise<void> {
  // Also while it waits for its configuration, and of the process that only supervises others.
  ignoreDebugSignal();
  const webDir = findWebDir();
  const docsDir = findDocsDir();
  const share = takeShare(process.env);
  const overrides: ConfigOverrides = {
    ...(options.host === undefined ? {} : { host: options.host }),
    ...(options.port === undefined ? {} : { port: options.port }),
    ...storeOverrides(options),
    ...(options.workspaceRoot === undefined ? {} : { workspaceRoot: options.workspaceRoot }),
    sandbox: options.sandbox,
    sandboxSpecs: options.sandboxSpecs,
    wall: options.wall,
    network: options.network,
    isAuthDisabled: !options.auth,
    ...(webDir === null ? {} : { webDir }),
    ...(docsDir === null ? {} : { docsDir }),
  };
  try {
    if (share === null && options.processes > 1) await serveInProcesses(options, overrides);
    else await serveHere(options, overrides, share);
  } catch (error) {
    const { explainNoWall } = await import("../without-wall.ts");
    throw explainNoWall(error, "--wall off (CONVOKE_WALL=off)");
  }
}

async function serveHere(options: Serve, overrides: ConfigOverrides, share: Share | null): Promise<void> {
  using joined =
    share === null ? null : new (await import("../processes/joined-process.ts")).JoinedProcess(share);
  await using early = await beginEarly(overrides);
  const { openDeferredNode, openNode } = await import("../open-node.ts");
  await using deferred = joined === null ? await openDeferredNode(overrides, options.logLevel) : null;
  if (deferred !== null) {
    const lines = [
      `Convoke is waiting for its configuration on ${deferred.url}`,
      `  send   POST ${deferred.url}/api/init`,
    ];
    await untilStopped(options, deferred.url, lines);
    return;
  }
  await using node = await openNode(overrides, options.logLevel, {
    hasSandboxes: true,
    ...early.begun,
    ...(joined === null ? {} : { processGroup: joined }),
    ...(overrides.webDir === undefined ? {} : { demo: (await import("../watched-demo.ts")).watchedDemo }),
  });
  const { server, config } = node;
  if (joined !== null) {
    const { url, sessionKey, sandboxes, walls } = server;
    joined.reportReady({ url, sessionKey, sandboxes, walls });
    options.keepCompiled();
    await using _ = warming(server);
    await joined.stopped;
    return;
  }
  await using announced = await announce(options, config, server);
  await untilStopped(options, server.url, announced.lines, () => warming(server));
}

/** Until it is disposed. A step that fails says so to the request or the turn that needs it first. */
function warming({ warmUp }: Pick<Server, "warmUp">): AsyncDisposable {
  const stopping = new AbortController();
  const ended = warmUp(stopping.signal).catch(() => undefined);
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await ended;
    },
  };
}

/** This process only supervises those that serve. */
async function serveInProcesses(options: ServeOptions, overrides: ConfigOverrides): Promise<void> {
  const { readConfig } = await import("@convoke/server/config");
  const { serveTogether } = await import("../processes/serve-together.ts");
  const { default: pino } = await import("pino");
  const config = readConfig(configuredEnvironment(), overrides);
  await using scope = new AsyncDisposableStack();
  const greet = async (facts: ServerFacts): Promise<void> => {
    const { lines } = scope.use(await announce(options, config, facts));
    report(options, facts.url, [...lines, `  processes  ${options.processes}`]);
  };
  const serving = serveTogether({
    count: options.processes,
    config,
    logger: pino({ level: options.logLevel, base: null }, pino.destination({ dest: 2, sync: true })),
    onReady: (facts) => {
      greet(facts).catch((error: unknown) => {
        console.error(String(error));
        process.kill(process.pid, "SIGTERM");
      });
    },
    onStopping: () => sayGoodbye(options),
  });
  process.exitCode = await listening(serving, config);
}

/** Says in the data folder that a server runs, until it is disposed, and what is shown of it. */
async function announce(
  options: ServeOptions,
  config: ServerConfig,
  server: ServerFacts,
): Promise<AsyncDisposable & { readonly lines: readonly string[] }> {
  const running = {
    url: config.webUrl ?? server.url,
    apiUrl: server.url,
    usesFolderKey: server.sessionKey !== null && server.sessionKey.file !== null,
    hasPage: config.webDir !== null,
    needsLogin: server.sessionKey !== null,
  };
  await using announced = new AsyncDisposableStack();
  const link = await withoutDisk(async () => {
    announced.use(await announceServer(config.dataDir, running));
    return await createLink(options, config, running);
  });
  const flags = folderFlag(options);
  const waysIn = {
    page: link ?? pageOf(running, flags),
    chat: link === null ? null : `convoke chat${flags}`,
  };
  const lines = welcome(server, config, waysIn, isInContainer(process.env));
  const owned = announced.move();
  return { lines, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** These files are a convenience: the server answers already, and continues when its disk has failed. */
async function withoutDisk(act: () => Promise<string | null>): Promise<string | null> {
  try {
    return await act();
  } catch (error) {
    const { describeStorageFault } = await import("@convoke/server/storage-fault");
    const sentence = describeStorageFault(error);
    if (sentence === null) throw error;
    console.error(`${sentence} The server is running, but "convoke open" cannot find it.`);
    return null;
  }
}

/** Only for an interactive start: the output of a service ends up in a log. */
async function createLink(
  { json, open }: ServeOptions,
  { dataDir, database }: ServerConfig,
  running: Omit<RunningServer, "pid">,
): Promise<string | null> {
  const { isTTY } = process.stdout;
  if (!running.hasPage || json === true || !(isTTY || open === true)) return null;
  const { createLoginLink } = await import("../login-link.ts");
  const link = await createLoginLink({ dataDir, database }, running);
  if (open === true && canOpenBrowser(process.env, isTTY)) await openBrowser(link, dataDir);
  return link;
}

function pageOf({ url, hasPage, needsLogin }: Omit<RunningServer, "pid">, flags: string): string | null {
  if (!hasPage) return null;
  return needsLogin ? `${url}/   (log in with: convoke open${flags})` : `${url}/`;
}

type Early = AsyncDisposable & {
  readonly begun: {
    readonly bubblewrap?: ReturnType<typeof findBubblewrap>;
    readonly writerThread?: ReturnType<typeof startWriterThread>;
  };
};

/** Begun before the server is loaded: both take about as long as loading, and another process and another thread do them. */
async function beginEarly(overrides: ConfigOverrides): Promise<Early> {
  const [{ readConfig }, { readInitKey }, { findBubblewrap, ownAccount }, { startWriterThread }] =
    await Promise.all([
      import("@convoke/server/config"),
      import("@convoke/server/config-init"),
      import("@convoke/server/find-bubblewrap"),
      import("@convoke/server/writer-thread"),
    ]);
  const environment = configuredEnvironment();
  const { database, sandbox, wall } = readConfig(environment, overrides);
  // One that waits for its configuration does not know yet where conversations are stored.
  const hasFolder = database === null && readInitKey(environment, overrides) === null;
  const thread = hasFolder ? startWriterThread() : null;
  return {
    begun: {
      ...(sandbox.use.length === 0 && wall.kind === "off"
        ? {}
        : {
            bubblewrap: findBubblewrap({
              self: ownAccount(),
              unprivileged: sandbox.user,
              environment,
            }),
          }),
      ...(thread === null ? {} : { writerThread: thread }),
    },
    // It has ended by itself where a server had it.
    [Symbol.asyncDispose]: async () => void (await thread?.terminate()),
  };
}

/** `begin` is called once clients know the address; what it begins ends when the server is stopped. */
async function untilStopped(
  options: Serve,
  url: string,
  lines: readonly string[],
  begin?: () => AsyncDisposable,
): Promise<void> {
  const stopped = untilSignalled();
  report(options, url, lines);
  // Not at the end: V8 has dropped much of the start by then.
  options.keepCompiled();
  await using _ = begin?.();
  await stopped;
  sayGoodbye(options);
}

function report({ json }: ServeOptions, url: string, lines: readonly string[]): void {
  if (json === true) printJson("ready", { url, pid: process.pid });
  else console.log(lines.join("\n"));
}

function sayGoodbye({ json }: ServeOptions): void {
  if (json !== true) console.log("Stopping. Unfinished runs resume at the next start.");
}
