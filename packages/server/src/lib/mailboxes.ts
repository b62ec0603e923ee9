import { Mailbox } from "./mailbox.ts";

type Kept = { readonly mailbox: Mailbox; waiting: number };

/** A mailbox for each name, for as long as a job waits or runs there. */
export class Mailboxes {
  readonly #kept = new Map<string, Kept>();

  async post<Result>(name: string, job: () => Promise<Result>): Promise<Result> {
    const kept = this.#kept.get(name) ?? { mailbox: new Mailbox(), waiting: 0 };
    this.#kept.set(name, kept);
    kept.waiting += 1;
    try {
      return await kept.mailbox.post(job);
    } finally {
      kept.waiting -= 1;
      if (kept.waiting === 0) this.#kept.delete(name);
    }
  }
}
