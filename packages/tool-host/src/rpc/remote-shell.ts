import { PassThrough, type Readable } from "node:stream";
import type { PersonShell, ShellInput, ShellSpec } from "../processes/person-shell.ts";
import { withinMs } from "../within.ts";
import type { ClientConnection } from "./client-connection.ts";
import type { Link } from "./link.ts";

/** Milliseconds, longer than a host takes to end everything that a shell has started. */
const disposeMs = 5_000;

/** A shell of a host in another process. It ends with the connection that started it. */
export async function openRemoteShell(link: Link, spec: ShellSpec): Promise<PersonShell> {
  return new RemoteShell(await link.connection(), spec);
}

class RemoteShell implements PersonShell {
  readonly output = new PassThrough();
  readonly ended: Promise<number>;
  readonly #inputs = new PassThrough();
  readonly #content: Readable;

  constructor(connection: ClientConnection, spec: ShellSpec) {
    // Both streams may break at any time; `ended` reports why.
    this.#inputs.on("error", () => {});
    this.output.on("error", () => {});
    const { answer, content } = connection.exchange("runShell", { spec }, this.#inputs);
    this.#content = content;
    content.on("error", () => this.output.end());
    content.pipe(this.output);
    this.ended = answer;
    // Callers that wait for it see the rejection; waiting is optional.
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
