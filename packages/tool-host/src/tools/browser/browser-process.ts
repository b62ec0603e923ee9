import { trustedKeyVariable } from "../../trusted-key.ts";
import type { Browser, BrowserContext, BrowserContextOptions } from "playwright-core";
import { withGuardedPipe } from "./guard-pipe.ts";

/** Options of a browser process. */
export type BrowserSpec = {
  readonly executablePath: string;
  /** Contains the marker by which every process of the browser ends with the host. */
  readonly environment: Readonly<Record<string, string>>;
  /** `host:port` of servers that no page may reach. */
  readonly closedAddresses: readonly string[];
  readonly startMs: number;
};

/** Milliseconds that a browser without conversations stays open for the next one. */
const idleMs = 15_000;

/**
 * The one browser of a tool host: started by the first conversation that needs it, shared by all of them, each with its own context,
 * and closed a while after the last one has gone.
 */
export class BrowserProcess implements AsyncDisposable {
  #opening: Promise<Browser> | undefined;
  #users = 0;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** Opens a fresh context; its owner calls {@link release} once. */
  async openContext(spec: BrowserSpec, options: BrowserContextOptions): Promise<BrowserContext> {
    if (this.#isClosed) throw new Error("The tool host is closed.");
    this.#users += 1;
    clearTimeout(this.#idle);
    try {
      const browser = await this.#browser(spec);
      return await browser.newContext(options);
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  /** Closes a context, whatever happened to its browser. */
  async release(context: BrowserContext): Promise<void> {
    // A context whose browser is gone is closed already.
    await context.close().catch(() => {});
    this.#leave();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#end();
  }

  #leave(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.#end(), idleMs);
    this.#idle.unref();
  }

  async #browser(spec: BrowserSpec): Promise<Browser> {
    const known = await this.#opening?.catch(() => undefined);
    if (known?.isConnected() === true) return known;
    const opening = (this.#opening = startBrowser(spec));
    return await opening;
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle);
    const opening = this.#opening;
    this.#opening = undefined;
    // A browser that never started, or has crashed, needs no closing.
    await opening?.then((browser) => browser.close()).catch(() => {});
  }
}

/** Chromium's own sandbox stays on where possible: not for the superuser, and not where the kernel denies it namespaces. */
async function startBrowser(spec: BrowserSpec): Promise<Browser> {
  if (process.getuid?.() === 0) return await launch(spec, false);
  try {
    return await launch(spec, true);
  } catch (error) {
    if (!/sandbox|namespace|zygote/i.test(String(error))) throw error;
    return await launch(spec, false);
  }
}

async function launch(spec: BrowserSpec, chromiumSandbox: boolean): Promise<Browser> {
  // Slow to load, and only needed for a browser.
  const { chromium } = await import("playwright-core");
  const start = (): Promise<Browser> =>
    chromium.launch({
      executablePath: spec.executablePath,
      headless: true,
      chromiumSandbox,
      env: { ...spec.environment },
      timeout: spec.startMs,
      // The host's program decides what a signal does; its end ends the browser.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      args: [
        // A small /dev/shm, as in containers, would crash large pages.
        "--disable-dev-shm-usage",
        "--no-first-run",
        ...closedAddressRules(spec.closedAddresses),
        ...trustedKey(spec.environment),
      ],
    });
  return await withGuardedPipe(spec.executablePath, start);
}

/** Behind a wall the browser accepts certificates of the wall's authority, and of no other unknown one. */
function trustedKey(environment: BrowserSpec["environment"]): string[] {
  const digest = environment[trustedKeyVariable];
  return digest === undefined || digest === "" ? [] : [`--ignore-certificate-errors-spki-list=${digest}`];
}

function closedAddressRules(addresses: readonly string[]): string[] {
  if (addresses.length === 0) return [];
  return [`--host-resolver-rules=${addresses.map((address) => `MAP ${address} ~NOTFOUND`).join(", ")}`];
}
