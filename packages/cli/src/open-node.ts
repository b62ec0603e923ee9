import { randomUUID } from "node:crypto";
import {
  openServer,
  readConfig,
  type ConfigOverrides,
  type Sandboxes,
  type Server,
  type ServerConfig,
  type SharedWithSandboxes,
} from "@convoke/server";
import { allowedEnvironment, createInProcessHost, defaultTools, openGuardian } from "@convoke/tool-host";
import { pino, type Level } from "pino";
import { CommandError, exitCodes } from "./exit-codes.ts";
import { findToolHostProgram } from "./find-tool-host-program.ts";

export type Node = AsyncDisposable & { readonly server: Server; readonly config: ServerConfig };

/**
 * A whole server in this process: tools, a guardian that ends them if we are killed, and the HTTP face. Only one that is
 * there to stay looks after sandboxes.
 */
export async function openNode(
  overrides: ConfigOverrides,
  logLevel: Level | "silent",
  { hasSandboxes }: { readonly hasSandboxes: boolean } = { hasSandboxes: false },
): Promise<Node> {
  await using scope = new AsyncDisposableStack();
  const config = readConfig(process.env, overrides);
  const logger = pino({ level: logLevel, base: null }, pino.destination({ dest: 2, sync: true }));
  const guardian = scope.use(await openGuardian({ marker: `convoke-${process.pid}-${randomUUID()}` }));
  const environment = { ...allowedEnvironment(process.env), ...guardian.environment };
  const toolHost = createInProcessHost({
    tools: defaultTools(),
    environment,
    onWarning: (text) => logger.warn(text),
  });
  const server = scope.use(
    await listening(
      openServer({
        config,
        toolHost,
        logger,
        environment,
        ...(hasSandboxes ? { openSandboxes: openOurSandboxes } : {}),
      }),
      config,
    ),
  );
  const owned = scope.move();
  return { server, config, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function openOurSandboxes({ config, ...shared }: SharedWithSandboxes): Promise<Sandboxes | null> {
  if (config.sandbox.use.length === 0) return null;
  const { openSandboxes } = await import("@convoke/server/sandboxes");
  return await openSandboxes({
    ...shared,
    config: config.sandbox,
    dataDir: config.dataDir,
    program: findToolHostProgram(),
    environment: process.env,
  });
}

async function listening(opening: Promise<Server>, config: ServerConfig): Promise<Server> {
  try {
    return await opening;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "EADDRINUSE") {
      throw new CommandError(
        `Port ${config.port} on ${config.host} is in use. Choose another with --port, or --port 0 for any free one.`,
        exitCodes.usage,
      );
    }
    if (code === "EACCES" || code === "EADDRNOTAVAIL") {
      throw new CommandError(
        `The server cannot listen on ${config.host}:${config.port} (${code}).`,
        exitCodes.usage,
      );
    }
    throw error;
  }
}

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. */
export async function untilSignalled(): Promise<void> {
  await new Promise<void>((resolve) => {
    const onSignal = (): void => {
      resolve();
      for (const signal of ["SIGINT", "SIGTERM"] as const) {
        process.off(signal, onSignal);
        process.once(signal, () => process.exit(exitCodes.interrupted));
      }
    };
    process.on("SIGINT", onSignal);
    process.on("SIGTERM", onSignal);
  });
}
