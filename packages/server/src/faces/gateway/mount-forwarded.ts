import type { Duplex } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { SocketTimes } from "../agent-server/sockets/socket-times.ts";
import { allowPreflight, isPreflight } from "./allow-preflight.ts";
import { forwardRequest, forwardUpgrade } from "./forward.ts";
import { ForwardedStreams } from "./forwarded-streams.ts";
import type { PortPath } from "./port-path.ts";

export type ForwardedPort<Path extends PortPath> = {
  /** The address of the port; what is below it is forwarded too. */
  readonly url: string;
  readonly times: Pick<SocketTimes, "keyCheckEveryMs">;
  /** Throws a Fault for an address that leads nowhere. */
  readonly pathOf: (request: FastifyRequest) => Path;
  /** The last part of that address. */
  readonly nameOf: (path: Path) => string;
  /** Sets who makes the request; throws for a stranger. */
  readonly admit: (request: FastifyRequest) => Promise<void>;
  readonly connect: (request: FastifyRequest, path: Path) => Promise<Duplex>;
  /** False when the key that opened a stream has ended, or may less. */
  readonly isStillGood: (request: FastifyRequest, path: Path) => boolean;
};

/** Leads requests and upgrades to the web server behind a port. */
export async function mountForwarded<Path extends PortPath>(
  app: FastifyInstance,
  { url, times, pathOf, nameOf, admit, connect, isStillGood }: ForwardedPort<Path>,
): Promise<void> {
  const streams = new ForwardedStreams(times);
  const open = async (request: FastifyRequest, path: Path) => {
    const stream = await connect(request, path);
    streams.watch(stream, () => isStillGood(request, path));
    const { publicAddress, socket } = request;
    return { stream, context: { path, publicAddress, remoteAddress: socket.remoteAddress ?? "" } };
  };
  const lead = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const path = pathOf(request);
    // The key in the address is sufficient.
    if (path.portKey !== null && isPreflight(request)) return allowPreflight(request, reply);
    // Relative links of a page need the slash.
    if (path.rest === "/" && !request.url.startsWith(`${path.prefix}/`))
      return reply.redirect(`${nameOf(path)}/`, 308);
    const { stream, context } = await open(request, path);
    reply.hijack();
    forwardRequest(request.raw, reply.raw, stream, context);
    return reply;
  };
  /** A hook, because every upgrade that comes to a handler is answered as a WebSocket of this server. */
  const leadUpgrade = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | void> => {
    if (!request.ws) return;
    const { stream, context } = await open(request, pathOf(request));
    reply.hijack();
    request.noteSocket(request.caller);
    forwardUpgrade(request.raw, stream, context);
    return reply;
  };
  await app.register(async (scoped) => {
    scoped.removeAllContentTypeParsers();
    // Bodies are passed on as they come.
    scoped.addContentTypeParser("*", (_request, _payload, done) => done(null));
    for (const one of [url, `${url}/*`]) scoped.all(one, { onRequest: [admit, leadUpgrade] }, lead);
  });
}
