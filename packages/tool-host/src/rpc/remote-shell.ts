import { PassThrough, type Readable } from "node:stream";
import type { PersonShell, ShellInput, ShellSpec } from "../processes/person-shell.ts";
import { withinMs } from "../within.ts";
import type { ClientConnection } from "./client-connection.ts";
import type { Link } from "./link.ts";

/** Longer than a host takes to end everything that a shell has started. */
const disposeMs = 5_000;

/** A shell at a host in another process. It lives as long as the connection that started it. */
export async function openRemoteShell(link: Link, spec: ShellSpec): Promise<PersonShell> {
  return new RemoteShell(await link.connection(), spec);
}

class RemoteShell implements PersonShell {
  readonly output = new PassThrough();
  readonly ended: Promise<number>;
  readonly #inputs = new PassThrough();
  readonly #content: Readable;

  constructor(connection: ClientConnection, spec: ShellSpec) {
    // Both ends may break at any time; `ended` tells.
    this.#inputs.on("error", () => {});
    this.output.on("error", () => {});
    const { answer, content } = connection.exchange("runShell", { spec }, this.#inputs);
    this.#content = content;
    content.on("error", () => this.output.end());
    content.pipe(this.output);
    this.ended = answer;
    // Whoever waits for it sees the rejection; nobody has to.
    this.ended.catch(() => {});
  }

  act(input: ShellInput): void {
    if (!this.#inputs.destroyed) this.#inputs.write(`${JSON.stringify(input)}\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#inputs.destroy();
    this.#content.destroy();
    await withinMs(
      this.ended.catch(() => undefined),
      disposeMs,
    );
    this.output.end();
  }
}
