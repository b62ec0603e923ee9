import { once } from "node:events";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { Fault } from "../lib/fault.ts";
import type { Fellows } from "./fellows.ts";
import type { Peers } from "./peers.ts";

export type InternalListenerDeps = {
  readonly app: FastifyInstance;
  readonly peers: Pick<Peers, "callerOf">;
};

/** How long an ending server waits for connections that were given to it; its sockets are broken off before that. */
const maxClosingMs = 2_000;

/**
 * What a server listens on that shares its port with other processes: the port leads to any of them, this one here, and is for the other
 * servers alone. Whoever comes this way without a pass of theirs is refused, whatever key they have. Connections of clients are given to it.
 */
export class InternalListener {
  readonly #app: FastifyInstance;
  readonly #given = new Set<Socket>();

  /** Before the routes are mounted. */
  constructor({ app, peers }: InternalListenerDeps) {
    this.#app = app;
    app.addHook("onRequest", async (request) => {
      if (!this.#given.has(request.raw.socket) && peers.callerOf(request) === null)
        throw new Fault("stranger", "unauthorized", "Unauthorized");
    });
    app.addHook("onClose", async () => {
      const late = AbortSignal.timeout(maxClosingMs);
      // Whoever has not taken the end by then hears of it from the system.
      await Promise.all(
        [...this.#given].map((socket) => once(socket, "close", { signal: late }).catch(() => {})),
      );
    });
  }

  /** Serves what the others do not get of the shared port. */
  open(fellows: Fellows): void {
    fellows.take((socket) => this.#serve(socket));
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
    // As the server does with those that it accepts itself.
    socket.setNoDelay(true);
    server.emit("connection", socket);
  }
}
