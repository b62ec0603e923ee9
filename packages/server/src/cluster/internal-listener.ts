import { once } from "node:events";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { Fault } from "../lib/fault.ts";
import type { ProcessGroup } from "./process-group.ts";
import type { Peers } from "./peers.ts";

export type InternalListenerDeps = {
  readonly app: FastifyInstance;
  readonly peers: Pick<Peers, "callerOf">;
};

/** How long a closing server waits for the connections that it was given; its sockets are closed before that. */
const maxClosingMs = 2_000;

/**
 * The listener of a server that shares its port with other processes. The shared port leads to any of them; this one
 * leads to this process, and only other nodes may use it. Requests without a node's pass are refused, whatever key they
 * have. Client connections are handed over by the parent process.
 */
export class InternalListener {
  readonly #app: FastifyInstance;
  readonly #given = new Set<Socket>();

  /** Call it before the routes are mounted. */
  constructor({ app, peers }: InternalListenerDeps) {
    this.#app = app;
    app.addHook("onRequest", async (request) => {
      if (!this.#given.has(request.raw.socket) && peers.callerOf(request) === null)
        throw new Fault("stranger", "unauthorized", "Unauthorized");
    });
    app.addHook("onClose", async () => {
      const late = AbortSignal.timeout(maxClosingMs);
      // The operating system closes connections that are still open after that.
      await Promise.all(
        [...this.#given].map((socket) => once(socket, "close", { signal: late }).catch(() => {})),
      );
    });
  }

  /** Starts to serve this process's share of the shared port's connections. */
  open(processGroup: ProcessGroup): void {
    processGroup.take((socket) => this.#serve(socket));
  }

  #serve(socket: Socket): void {
    const { server } = this.#app;
    if (this.#given.size >= (server.maxConnections || Infinity)) {
      server.emit("drop");
      socket.destroy();
      return;
    }
    this.#given.add(socket);
    socket.once("close", () => this.#given.delete(socket));
    // As the HTTP server does for connections that it accepts itself.
    socket.setNoDelay(true);
    server.emit("connection", socket);
  }
}
