import { Mailbox } from "./mailbox.ts";

type Entry = { readonly mailbox: Mailbox; waiting: number };

/** A mailbox for each name, for as long as a job waits or runs there. */
export class Mailboxes {
  readonly #entries = new Map<string, Entry>();

  async post<Result>(name: string, job: () => Promise<Result>): Promise<Result> {
    const entry = this.#entries.get(name) ?? { mailbox: new Mailbox(), waiting: 0 };
    this.#entries.set(name, entry);
    entry.waiting += 1;
    try {
      return await entry.mailbox.post(job);
    } finally {
      entry.waiting -= 1;
      if (entry.waiting === 0) this.#entries.delete(name);
    }
  }
}
