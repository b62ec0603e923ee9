import { setTimeout as sleep } from "node:timers/promises";
import { ToolHostUnreachableError, type RemoteToolHost } from "@convoke/tool-host";
import { forgetKey, type SandboxDirectory } from "./sandbox-directory.ts";
import { SandboxError } from "./sandbox.ts";
import { orAborted } from "../lib/or-aborted.ts";
import { isSocket } from "../lib/file-kinds.ts";

/** Opens a connection to the tool host at `address` (`unix:/path` or `tcp:host:port`). */
export type ConnectToolHost = (options: {
  readonly address: string;
  readonly key: string;
}) => Promise<RemoteToolHost>;

export type ToolHostLinkDeps = {
  readonly directory: SandboxDirectory;
  readonly key: string;
  readonly connect: ConnectToolHost;
};

const pollMs = 3;
const answerMs = 5_000;

/** The way to the tool host of one sandbox: a unix socket in the directory that both sides see. */
export class ToolHostLink {
  readonly #deps: ToolHostLinkDeps;

  constructor(deps: ToolHostLinkDeps) {
    this.#deps = deps;
  }

  get address(): string {
    return `unix:${this.#deps.directory.socketFile}`;
  }

  async connect(): Promise<RemoteToolHost> {
    const { key, connect } = this.#deps;
    return connect({ address: this.address, key });
  }

  /** Resolves when the tool host answers; rejects after five seconds. */
  async probe(): Promise<void> {
    await this.#answer(AbortSignal.timeout(answerMs)).catch((error: unknown) => {
      if (!(error instanceof DOMException)) throw error;
      throw new SandboxError(`no answer in ${answerMs} ms`, { cause: error });
    });
  }

  /** Resolves when a started tool host has answered once; rejects with what `findEnd` says when it ended before. */
  async untilReady(findEnd: () => Promise<string | null>, signal: AbortSignal): Promise<void> {
    const { directory } = this.#deps;
    while (!(await this.#hasAnswered(signal))) {
      signal.throwIfAborted();
      const end = await findEnd();
      if (end !== null) {
        throw new SandboxError(`The tool host ended while it started. ${end || "It printed nothing."}`);
      }
      await sleep(pollMs);
    }
    await forgetKey(directory);
  }

  /** False while it has not begun to listen, or is too busy with starting to answer. */
  async #hasAnswered(signal: AbortSignal): Promise<boolean> {
    if (!(await isSocket(this.#deps.directory.socketFile))) return false;
    try {
      await this.#answer(signal);
      return true;
    } catch (error) {
      if (error instanceof ToolHostUnreachableError) return false;
      throw error;
    }
  }

  /** A connection that arrives after the abort is closed again. */
  async #answer(signal: AbortSignal): Promise<void> {
    const opening = this.connect();
    try {
      await orAborted(opening, signal);
    } finally {
      opening.then(
        (host) => host.detach(),
        () => {}, // Nothing was opened; the reason is thrown above.
      );
    }
  }
}
