import { randomUUID } from "node:crypto";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BoundSecret } from "./egress.ts";
import { gitCredentialFiles, gitFiles, gitSettings } from "./git-credentials.ts";
import { insideEgress } from "./inside-egress.ts";
import { Mailbox } from "../lib/mailbox.ts";

export type GitPlaceholdersDeps = {
  /** Of the way out; shows inside, read-only. */
  readonly folder: string;
  readonly secrets: () => readonly BoundSecret[];
};

/** The files with which git inside finds the placeholders of bound secrets. */
export class GitPlaceholders {
  readonly #deps: GitPlaceholdersDeps;
  readonly #writing = new Mailbox();

  constructor(deps: GitPlaceholdersDeps) {
    this.#deps = deps;
  }

  /** Writes those of the present secrets; one after the other, so that the newest stay. */
  async write(): Promise<void> {
    await this.#writing.post(() => this.#writeNow());
  }

  /** Waits for what is being written. */
  async settled(): Promise<void> {
    await this.#writing.drain();
  }

  async #writeNow(): Promise<void> {
    const { folder, secrets } = this.#deps;
    const files = {
      [gitFiles.settings]: gitSettings(insideEgress.folder),
      ...gitCredentialFiles(secrets()),
    };
    for (const [name, text] of Object.entries(files)) {
      // A name of its own: the folder may belong to another user.
      const draft = join(folder, `.${randomUUID()}`);
      await writeFile(draft, text, { mode: 0o644, flag: "wx" });
      await rename(draft, join(folder, name));
    }
  }
}
