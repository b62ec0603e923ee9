import { readConfig } from "@convoke/server/config";
import type { Command } from "commander";
import { CommandError } from "../exit-codes.ts";
import { createLoginLink } from "../login-link.ts";
import { canOpenBrowser, openBrowser } from "../open-browser.ts";
import { findServers, type RunningServer } from "../running-servers.ts";
import { storeOverrides, withStore, type StoreOptions } from "./store-options.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";

type OpenOptions = StoreOptions & { readonly print?: true; readonly qr?: true };

/** `convoke open`: works on the data folder itself, so it needs no key. */
export function addOpen(program: Command): void {
  const command = program
    .command("open")
    .description("Open the page of the running server, logged in; the link works once, within ten minutes");
  withStore(command)
    .option("--print", "print the link without opening a browser")
    .option("--qr", "also print the link as a QR code, for a phone")
    .action(open);
}

async function open(options: OpenOptions): Promise<void> {
  const config = readConfig(configuredEnvironment(), storeOverrides(options));
  const { dataDir } = config;
  const link = await createLoginLink(config, await findPage(dataDir));
  if (options.qr === true) {
    const { renderUnicodeCompact } = await import("uqr");
    console.log(renderUnicodeCompact(link));
  }
  console.log(link);
  const isWanted = options.print !== true && options.qr !== true;
  if (isWanted && canOpenBrowser(process.env, process.stdout.isTTY)) await openBrowser(link, dataDir);
}

/** The server that was started last. */
async function findPage(dataDir: string): Promise<RunningServer> {
  const servers = await findServers(dataDir);
  const withPage = servers.filter(({ hasPage }) => hasPage).at(-1);
  if (withPage !== undefined) return withPage;
  throw new CommandError(
    servers.length === 0
      ? `No server is running on ${dataDir}. Start one with convoke serve, or name another folder with --data-dir.`
      : "The running server has no page, because it was not built. In a checkout: npm run build:web.",
  );
}
