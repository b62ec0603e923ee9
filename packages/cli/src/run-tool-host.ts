import { randomBytes } from "node:crypto";
import { lstat, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import {
  allowedEnvironment,
  createMarker,
  openEgressListener,
  createLocalWorkspace,
  openGuardian,
  openLateBash,
  serveToolHost,
  type ListenAddress,
} from "@convoke/tool-host/serve";
import { CommandError, exitCodes } from "./exit-codes.ts";
import { ignoreDebugSignal } from "./ignore-debug-signal.ts";
import { printJson } from "./print/json.ts";

export type ToolHostOptions = {
  readonly socket?: string;
  readonly port?: number;
  readonly address: string;
  readonly keyFile: string;
  readonly stateDir?: string;
  readonly root?: string;
  readonly json?: boolean;
  readonly exitWithParent?: boolean;
  /** Socket of the server's proxy; inside, it is reached on 127.0.0.1:3128. */
  readonly egress?: string | undefined;
};

/** Serves a tool host until it is stopped. */
export async function runToolHost(options: ToolHostOptions): Promise<void> {
  ignoreDebugSignal();
  const asked = untilAsked(options.exitWithParent === true);
  await using scope = new AsyncDisposableStack();
  const key = await readKey(options.keyFile);
  const guardian = scope.use(await openGuardian({ marker: createMarker("convoke-host") }));
  const environment = {
    ...allowedEnvironment(process.env),
    ...passedEnvironment(process.env),
    ...guardian.environment,
  };
  const onWarning = (text: string): void => console.error(text);
  const egress =
    options.egress === undefined
      ? null
      : openEgressListener({ socketPath: resolve(options.egress), onWarning });
  // Why it could not be opened is thrown where the host is awaited.
  egress?.catch(() => {});
  scope.defer(async () => (await egress?.catch(() => null))?.[Symbol.asyncDispose]());
  // Tools take longer to load than all the rest: they come after the address, so that clients can connect meanwhile.
  const ready = Promise.withResolvers<void>();
  // The thread of the listener starts meanwhile as well; no tool runs before it listens.
  const host = ready.promise.then(async () => {
    const [loaded] = await Promise.all([loadHost(environment, onWarning), egress]);
    return loaded;
  });
  const bash = scope.use(
    openLateBash({
      path: options.stateDir === undefined ? ":memory:" : join(resolve(options.stateDir), "bash.sqlite"),
      environment,
    }),
  );
  const served = scope.use(
    await serveToolHost({
      host,
      bash,
      workspace: createLocalWorkspace({
        environment,
        ...(options.root === undefined ? {} : { root: resolve(options.root) }),
      }),
      listen: readListenAddress(options),
      key,
      onWarning,
      ...(options.stateDir === undefined ? {} : { stateDir: resolve(options.stateDir) }),
    }),
  );
  using gone = watchSocket(options.socket);
  const ended = Promise.race([asked, gone.promise]);
  const { address } = served;
  if (options.json === true) printJson("tool_host_ready", { address, pid: process.pid });
  else console.log(`The tool host is listening on ${address}`);
  ready.resolve();
  // Ended before we stop serving, so that clients still hear what became of their calls.
  // Why it could not be loaded is thrown below.
  scope.defer(async () => (await host.catch(() => null))?.[Symbol.asyncDispose]());
  await Promise.race([ended, host.then(async () => ended)]);
}

const checkMs = 2_000;

/** Resolves when the socket is no longer there, as when its data folder was removed: nobody can ask for anything any more. */
function watchSocket(socket: string | undefined): Disposable & { readonly promise: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let missed = 0;
  const checkPath = async (path: string): Promise<void> => {
    const isThere = await lstat(path).then(
      () => true,
      (error: unknown) => (error as NodeJS.ErrnoException).code !== "ENOENT",
    );
    missed = isThere ? 0 : missed + 1;
    // A single miss may be a check between two files.
    if (missed > 1) resolve();
  };
  const timer = socket === undefined ? null : setInterval(() => void checkPath(socket), checkMs).unref();
  return { promise, [Symbol.dispose]: () => clearInterval(timer ?? undefined) };
}

/** The variables that the creator of the sandbox chose: `CONVOKE_PASS_ENVIRONMENT` names them, separated by commas. */
function passedEnvironment(source: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of source["CONVOKE_PASS_ENVIRONMENT"]?.split(",") ?? []) {
    const value = source[name];
    if (value !== undefined) passed[name] = value;
  }
  return passed;
}

async function loadHost(environment: Readonly<Record<string, string>>, onWarning: (text: string) => void) {
  const { createInProcessHost, defaultTools } = await import("@convoke/tool-host");
  return createInProcessHost({ tools: defaultTools(), environment, onWarning });
}

function readListenAddress({ socket, port, address }: ToolHostOptions): ListenAddress {
  if ((socket === undefined) === (port === undefined)) {
    throw new CommandError("Give either --socket or --port.", exitCodes.usage);
  }
  return socket === undefined ? { address, port: port ?? 0 } : { socket: resolve(socket) };
}

async function readKey(file: string): Promise<string> {
  try {
    await mkdir(dirname(resolve(file)), { recursive: true });
    await writeFile(file, `${randomBytes(32).toString("base64url")}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    // There already: then it is read. A key in a folder that cannot be written (a mounted secret) is fine too.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EEXIST" && code !== "EROFS" && code !== "EACCES") throw error;
  }
  const key = (await readFile(file, "utf8")).trim();
  if (key.length < 16) {
    throw new CommandError(`The key in ${file} is too short; the minimum is 16 characters.`, exitCodes.usage);
  }
  return key;
}

/** Resolves at SIGTERM or SIGINT and, when asked for, at the end of standard input. A closed terminal or pipe is no reason. */
async function untilAsked(withParent: boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.once("SIGTERM", resolve);
  process.once("SIGINT", resolve);
  if (withParent) {
    process.once("SIGHUP", resolve);
    process.stdin.once("end", resolve).once("error", resolve).resume();
  } else {
    process.on("SIGHUP", () => {});
    // Nobody may be left to read what we print.
    for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  }
  await promise;
}
