import { Cell } from "../lib/store.ts";

/**
 * Whether the server has another page by now. It is known by the script that the page begins with: its name changes with everything
 * that it loads, and what an older one names may be gone.
 */
export class PageVersion {
  readonly isOld = new Cell(false);
  readonly #script: string;
  readonly #read: () => Promise<string | null>;
  #isReading = false;

  /** `script` is the address that this page has for it; `read` is the server's page of now, null where there is none. */
  constructor(script: string, read: () => Promise<string | null>) {
    this.#script = script.slice(script.lastIndexOf("/") + 1);
    this.#read = read;
  }

  async check(): Promise<void> {
    if (this.#isReading || this.isOld.snapshot()) return;
    this.#isReading = true;
    try {
      const page = await this.#read();
      if (page !== null && this.#script !== "") this.isOld.set(!page.includes(`/${this.#script}"`));
    } catch {
      // The server cannot be reached: the next connection asks again.
    }
    this.#isReading = false;
  }
}

/** The page as the server has it now, past what the browser keeps. */
export async function readPage(address: string): Promise<string | null> {
  const reply = await fetch(address, { headers: { Accept: "text/html" }, cache: "no-cache" });
  const isPage = reply.ok && reply.headers.get("content-type")?.startsWith("text/html") === true;
  return isPage ? await reply.text() : null;
}
