import type { Duplex } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Peers } from "../../cluster/peers.ts";
import { Fault } from "../../lib/fault.ts";
import { toFaultAnswer } from "./machine-wire.ts";
import { tunnelProtocol } from "./open-tunnel.ts";

/** Tunnels by which other nodes reach byte streams here; they end with the server. */
export class ByteTunnels {
  readonly #app: FastifyInstance;
  readonly #peers: Pick<Peers, "callerOf">;
  readonly #open = new Set<Duplex>();

  constructor(app: FastifyInstance, peers: Pick<Peers, "callerOf">) {
    this.#app = app;
    this.#peers = peers;
    app.addHook("preClose", async () => {
      for (const tunnel of this.#open) tunnel.destroy();
    });
  }

  /** Admits only other nodes. */
  readonly admit = async (request: FastifyRequest): Promise<void> => {
    request.caller = this.#peers.callerOf(request);
    if (request.caller === null) throw new Fault("stranger", "unauthorized", "Unauthorized");
  };

  /** A Fault is passed on to the requesting node. */
  mount(path: string, open: (request: FastifyRequest) => Promise<Duplex>): void {
    /** A hook, because every upgrade that comes to a handler is answered as a WebSocket of this server. */
    const lead = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      try {
        this.#connect(request, reply, await open(request));
        return reply;
      } catch (error) {
        const described = toFaultAnswer(error);
        if (described === null) throw error;
        return reply.send(described);
      }
    };
    this.#app.get(path, { onRequest: [this.admit, lead] }, () => {
      throw new Fault("unusable", "not_a_socket", "There are only bytes at this address.");
    });
  }

  #connect(request: FastifyRequest, reply: FastifyReply, inner: Duplex): void {
    const { socket } = request.raw;
    reply.hijack();
    request.noteSocket(request.caller);
    socket.setTimeout(0);
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${tunnelProtocol}\r\n\r\n`,
    );
    this.#open.add(inner);
    const endBoth = (): void => {
      this.#open.delete(inner);
      socket.destroy();
      inner.destroy();
    };
    for (const side of [socket, inner]) side.once("error", endBoth).once("close", endBoth);
    socket.pipe(inner).pipe(socket);
  }
}
