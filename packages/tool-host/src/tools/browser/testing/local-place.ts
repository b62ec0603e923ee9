import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInProcessHost } from "../../../in-process-host.ts";
import { allowedEnvironment } from "../../../processes/allowed-environment.ts";
import { createBrowserToolSet } from "../browser-tool-set.ts";
import type { BrowserPlace } from "./browser-bench.ts";
import { openHardPages } from "./hard-pages.ts";

export type LocalPlaceOptions = {
  /** Whether no page may reach the other origin of the hard pages. */
  readonly isOtherClosed?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
};

/** A tool host in this process. */
export async function openLocalPlace(options: LocalPlaceOptions = {}): Promise<BrowserPlace> {
  const pages = await openHardPages();
  const { port } = new URL(pages.otherUrl);
  const closed = options.isOtherClosed === true ? [`localhost:${port}`, `127.0.0.1:${port}`] : [];
  const directory = await mkdtemp(join(tmpdir(), "browser-test-"));
  const host = createInProcessHost({
    tools: [createBrowserToolSet({ closedAddresses: () => closed })],
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
