import type { Command } from "commander";
import { withStore } from "../commands/store-options.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { openClient, type OpenedClient, type ServerOptions } from "../open-client.ts";

export type ApiOptions = ServerOptions & { readonly json?: true };

/** Adds the flags of a command over the API: which server, and JSON. */
export function withServer(command: Command): Command {
  return withStore(command, "the data folder whose server is used (default ~/.convoke)")
    .option("--server <url>", "use this server, with the key in SESSION_API_KEY")
    .option("--json", "print JSON, one object a line");
}

/** A client for one command that lets no agent work: without a running server one is started for its time. */
export function openApi(options: ApiOptions): Promise<OpenedClient> {
  return open(options, "none");
}

/**
 * A client for a command that lets an agent work. A run would end with a server that is started for the command alone, so that
 * needs `isWaiting`.
 */
export function openApiForRun(options: ApiOptions, isWaiting: boolean): Promise<OpenedClient> {
  if (isWaiting) return open(options, "ask");
  return openRunning(
    options,
    "No server is running, so nothing would carry the run on. Add --wait to follow it here, or start convoke serve.",
  );
}

/** A client of a running server; `purpose` says what only that can do. */
export function openRunningApi(options: ApiOptions, purpose: string): Promise<OpenedClient> {
  return openRunning(options, `No server is running, so nothing would ${purpose}. Start convoke serve.`);
}

function openRunning(options: ApiOptions, refusal: string): Promise<OpenedClient> {
  return openClient(options, {
    environment: configuredEnvironment(),
    openOwn: async () => {
      throw new CommandError(refusal, exitCodes.usage);
    },
  });
}

function open(options: ApiOptions, withoutWall: "ask" | "none"): Promise<OpenedClient> {
  return openClient(options, {
    environment: configuredEnvironment(),
    openOwn: async () => {
      // Only now: most commands find a server and need not load one.
      const { openOwnServer } = await import("../open-own-server.ts");
      const isJson = options.json === true;
      return await openOwnServer({ ...options, logLevel: "error", withoutWall, isJson });
    },
  });
}
