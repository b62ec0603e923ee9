import { Cell } from "../lib/store.ts";

/**
 * Whether the server serves a newer version of the page. The name of the entry script contains a hash of everything
 * it loads; files of an older version may be gone.
 */
export class PageVersion {
  readonly isOld = new Cell(false);
  readonly #script: string;
  readonly #read: () => Promise<string | null>;
  #isReading = false;
  #isAskedAgain = false;

  /** `script`: the address of this page's entry script; `read`: fetches the current page, null if there is none. */
  constructor(script: string, read: () => Promise<string | null>) {
    this.#script = script.slice(script.lastIndexOf("/") + 1);
    this.#read = read;
  }

  async check(): Promise<void> {
    this.#isAskedAgain = true;
    if (this.#isReading) return;
    this.#isReading = true;
    // What is read may be from before the connection that asks meanwhile, or fail because of its server's end.
    while (this.#isAskedAgain && !this.isOld.snapshot()) {
      this.#isAskedAgain = false;
      try {
        const page = await this.#read();
        if (page !== null && this.#script !== "") this.isOld.set(!page.includes(`/${this.#script}"`));
      } catch {
        // Offline: the next connection checks again.
      }
    }
    this.#isReading = false;
  }
}

/** Fetches the current page, bypassing the browser cache. */
export async function readPage(address: string): Promise<string | null> {
  const reply = await fetch(address, { headers: { Accept: "text/html" }, cache: "no-cache" });
  const isPage = reply.ok && reply.headers.get("content-type")?.startsWith("text/html") === true;
  return isPage ? await reply.text() : null;
}
