import { Agent, type ClientRequestArgs } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { formatHost, type Target } from "../policy/host-name.ts";

/** Servers often close a connection that was idle for five seconds, and a request must not meet that. */
const idleMs = 4_000;

/** Connections for HTTP/1.1, shared by all requests of a wall to a host and port. */
export class UpstreamAgent extends Agent {
  readonly #open: (target: Target) => Promise<Socket>;

  constructor(open: (target: Target) => Promise<Socket>) {
    super({ keepAlive: true, maxSockets: 64, maxTotalSockets: 256, maxFreeSockets: 16, timeout: idleMs });
    this.#open = open;
  }

  override createConnection(
    options: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const target = { host: String(options.host), port: Number(options.port) };
    void this.#connect(target, callback ?? (() => {}));
  }

  async #connect(target: Target, callback: (error: Error | null, stream: Duplex) => void): Promise<void> {
    let socket: Socket;
    try {
      socket = await this.#open(target);
    } catch (error) {
      // Node reads no stream beside an error.
      return callback(error as Error, undefined as unknown as Duplex);
    }
    callback(null, socket);
  }

  override getName(options: { host?: string | undefined; port?: number | string | undefined } = {}): string {
    return `${formatHost(String(options.host))}:${options.port}`;
  }
}
