import { Agent, type ClientRequestArgs } from "node:http";
import type { Socket } from "node:net";
import { type Duplex, PassThrough } from "node:stream";
import { formatTarget, type Target } from "../../lib/host-name.ts";

/** Servers often close a connection that was idle for five seconds, and a request must not meet that. */
const idleMs = 4_000;

/** Rejects when the signal is aborted first: then nobody waits for the connection any more. */
export type OpenUpstream = (target: Target, signal: AbortSignal) => Promise<Socket>;

/** What a request gives its agent besides Node's own options. */
export type UpstreamArgs = ClientRequestArgs & {
  /** Aborted when the client left. */
  readonly clientGone: AbortSignal;
};

/** Connections for HTTP/1.1, shared by all requests of a wall to a host and port. */
export class UpstreamAgent extends Agent {
  readonly #open: OpenUpstream;
  readonly #spare = new Map<string, Socket>();

  constructor(open: OpenUpstream) {
    super({ keepAlive: true, maxSockets: 64, maxTotalSockets: 256, maxFreeSockets: 16, timeout: idleMs });
    this.#open = open;
  }

  /** Gives it a connection that was opened for another reason. */
  offer(target: Target, socket: Socket): void {
    const name = formatTarget(target);
    this.#spare.get(name)?.destroy();
    this.#spare.set(name, socket);
    socket.once("close", () => void (this.#spare.get(name) === socket && this.#spare.delete(name)));
    socket
      .on("error", ignore)
      .setTimeout(idleMs, () => void (this.#spare.get(name) === socket && socket.destroy()));
  }

  override createConnection(
    options: UpstreamArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const target = { host: String(options.host), port: Number(options.port) };
    void this.#connect(target, options.clientGone, callback ?? (() => {}));
  }

  override getName(options: { host?: string | undefined; port?: number | string | undefined } = {}): string {
    return formatTarget({ host: String(options.host), port: Number(options.port) });
  }

  override destroy(): void {
    for (const socket of this.#spare.values()) socket.destroy();
    super.destroy();
  }

  async #connect(
    target: Target,
    clientGone: AbortSignal,
    callback: (error: Error | null, stream: Duplex) => void,
  ): Promise<void> {
    let socket: Socket;
    try {
      socket = this.#takeSpare(target) ?? (await this.#open(target, clientGone));
    } catch (error) {
      // Node reads no stream beside an error.
      return callback(error as Error, new PassThrough().destroy());
    }
    // Node sees the end of an idle connection only when it is not half-open.
    socket.allowHalfOpen = false;
    callback(null, socket);
  }

  #takeSpare(target: Target): Socket | null {
    const name = formatTarget(target);
    const socket = this.#spare.get(name);
    if (socket === undefined) return null;
    this.#spare.delete(name);
    return socket.destroyed ? null : socket.off("error", ignore).setTimeout(0);
  }
}

/** A spare connection that fails is closed, which is all that counts. */
function ignore(): void {}
