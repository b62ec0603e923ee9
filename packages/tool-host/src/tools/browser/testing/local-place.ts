import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInProcessHost } from "../../../in-process-host.ts";
import { allowedEnvironment } from "../../../processes/allowed-environment.ts";
import { createBrowserToolSet } from "../browser-tool-set.ts";
import { findChromium } from "../find-chromium.ts";
import type { BrowserPlace } from "./browser-bench.ts";
import { openHardPages } from "./hard-pages.ts";

export type LocalPlaceOptions = {
  /** Whether no page may reach the other origin of the hard pages. */
  readonly isOtherClosed?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether the browser has what the headless shell lacks: a viewer of PDF files. */
  readonly isWhole?: boolean;
};

/** A tool host in this process. */
export async function openLocalPlace(options: LocalPlaceOptions = {}): Promise<BrowserPlace> {
  const pages = await openHardPages();
  const { port } = new URL(pages.otherUrl);
  const closed = options.isOtherClosed === true ? [`localhost:${port}`, `127.0.0.1:${port}`] : [];
  const directory = await mkdtemp(join(tmpdir(), "browser-test-"));
  const host = createInProcessHost({
    tools: [
      createBrowserToolSet({
        closedAddresses: () => closed,
        ...(options.isWhole === true ? { findBrowser: findWhole } : {}),
      }),
    ],
    environment: { ...allowedEnvironment(process.env), ...options.environment },
  });
  return {
    host,
    pages,
    directory,
    outside: (path) => path,
    [Symbol.asyncDispose]: async () => {
      await host[Symbol.asyncDispose]();
      await pages[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function findWhole(environment: Readonly<Record<string, string | undefined>>): string | null {
  return findChromium(environment, (file) => existsSync(file) && !file.includes("headless"));
}
