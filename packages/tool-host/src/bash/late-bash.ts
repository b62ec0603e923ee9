import type { Bash, BashEntry, BashPage, BashQuery, BashRequest } from "./bash.ts";
import { openLocalBash, type LocalBashDeps } from "./local-bash.ts";

/** The same as {@link openLocalBash}, whose record is opened at its first use: most tool hosts never use it, and their start waits. */
export function openLateBash(deps: LocalBashDeps): Bash {
  return new LateBash(deps);
}

class LateBash implements Bash {
  readonly #deps: LocalBashDeps;
  #opened: Bash | null = null;
  #isClosed = false;

  constructor(deps: LocalBashDeps) {
    this.#deps = deps;
  }

  async start(request: BashRequest): Promise<string> {
    return await this.#open().start(request);
  }

  async result(owner: string, commandId: string, signal?: AbortSignal): Promise<string | null> {
    return await this.#open().result(owner, commandId, signal);
  }

  async stop(owner: string, commandId: string): Promise<boolean> {
    return await this.#open().stop(owner, commandId);
  }

  async search(query: BashQuery): Promise<BashPage> {
    return await this.#open().search(query);
  }

  async get(owner: string, ids: readonly string[]): Promise<readonly (string | null)[]> {
    return await this.#open().get(owner, ids);
  }

  async clear(owner: string): Promise<number> {
    return await this.#open().clear(owner);
  }

  async lastSeq(): Promise<number> {
    return await this.#open().lastSeq();
  }

  async *follow(
    owner: string,
    afterSeq: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly BashEntry[], void, undefined> {
    yield* this.#open().follow(owner, afterSeq, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#opened?.[Symbol.asyncDispose]();
  }

  #open(): Bash {
    if (this.#isClosed && this.#opened === null) throw new Error("The host of this command stops.");
    return (this.#opened ??= openLocalBash(this.#deps));
  }
}
