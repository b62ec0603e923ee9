import { PassThrough, type Readable } from "node:stream";
import type { PipedProcess, ProcessEnd, ProcessSpec } from "../processes/piped-process.ts";
import { withinMs } from "../within.ts";
import type { Link } from "./link.ts";

/** Milliseconds, longer than a host takes to end a process tree that resists. */
const disposeMs = 5_000;

/** A process of a host in another process. It ends with the connection that started it; callers start a new one. */
export class RemoteProcess implements PipedProcess {
  readonly input = new PassThrough();
  readonly output = new PassThrough();
  readonly ended: Promise<ProcessEnd>;
  #content: Readable | undefined;
  #isDisposed = false;

  constructor(link: Link, spec: ProcessSpec) {
    // Both streams may break at any time; `ended` reports why.
    this.input.on("error", () => {});
    this.output.on("error", () => {});
    this.ended = this.#run(link, spec);
    this.ended.catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    this.input.destroy();
    this.#content?.destroy();
    await withinMs(
      this.ended.catch(() => undefined),
      disposeMs,
    );
    this.output.destroy();
  }

  async #run(link: Link, spec: ProcessSpec): Promise<ProcessEnd> {
    const connection = await link.connection();
    if (this.#isDisposed) throw new Error("The process was ended before it started.");
    const { answer, content } = connection.exchange("runProcess", { spec }, this.input);
    this.#content = content;
    content.on("error", () => this.output.end());
    content.pipe(this.output);
    return await answer;
  }
}
