import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Sandboxes } from "../../app-conversations/sandbox-service.ts";
import type { KeyRing } from "../../http/auth.ts";
import { createAuthenticator } from "../../http/open-http.ts";
import { requireUnscoped } from "../../security/key-scope.ts";
import { requireRole } from "../../security/roles.ts";
import { Fault } from "../../lib/fault.ts";
import { allowPreflight, isPreflight } from "./allow-preflight.ts";
import type { SocketTimes } from "../agent-server/sockets/socket-times.ts";
import { ForwardedStreams } from "./forwarded-streams.ts";
import { forwardRequest, forwardUpgrade } from "./forward.ts";
import { readPortPath, type PortPath } from "./port-path.ts";
import { isSameKey, SandboxKeyRing } from "./sandbox-key-ring.ts";

export type PortsDeps = {
  readonly sandboxes: Sandboxes;
  readonly keys: KeyRing;
  readonly times: Pick<SocketTimes, "keyCheckEveryMs">;
};

/** `/sandboxes/{id}/ports/{n}/`, with a caller's key in a header, or `/sandboxes/{id}~{key}/ports/{n}/` for browsers. */
export async function mountPorts(app: FastifyInstance, { sandboxes, keys, times }: PortsDeps): Promise<void> {
  const streams = new ForwardedStreams(times);
  const isPortKey = ({ sandboxId, portKey }: PortPath): boolean =>
    portKey !== null && isSameKey(portKey, sandboxes.portKey(sandboxId));
  const open = async (request: FastifyRequest, path: PortPath) => {
    const { caller } = request;
    const stream = await sandboxes.connectPort(path.sandboxId, path.port);
    const ring = new SandboxKeyRing(keys, sandboxes, path.sandboxId);
    streams.watch(
      stream,
      () => caller !== null && ring.isStillGood(caller) && (path.portKey === null || isPortKey(path)),
    );
    return {
      stream,
      context: {
        path,
        publicAddress: request.publicAddress,
        remoteAddress: request.socket.remoteAddress ?? "",
      },
    };
  };
  const lead = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const path = pathOf(request);
    // The key in the address is sufficient.
    if (path.portKey !== null && isPreflight(request)) return allowPreflight(request, reply);
    // Relative links of a page need the slash.
    if (path.rest === "/" && !request.url.startsWith(`${path.prefix}/`)) {
      return reply.redirect(`${path.port}/${query(request.url)}`, 308);
    }
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
  const admit = async (request: FastifyRequest): Promise<void> => {
    const path = pathOf(request);
    const { sandboxId, portKey } = path;
    await sandboxes.learn(sandboxId);
    const ownerId = sandboxes.ownerOf(sandboxId);
    if (portKey === null) {
      const caller = createAuthenticator(new SandboxKeyRing(keys, sandboxes, sandboxId))(request);
      if (caller === null) throw new Fault("stranger", "unauthorized", "Unauthorized");
      request.caller = caller;
      if (caller.userId === ownerId) {
        // What a program behind a port does with a request is unknown.
        requireRole(caller, "member");
        requireUnscoped(caller);
        return;
      }
    } else if (ownerId !== null && isPortKey(path)) {
      request.caller = { userId: ownerId, role: keys.roleOfUser(ownerId), means: "port key" };
      requireRole(request.caller, "member");
      return;
    } else request.isRefused = true;
    throw new Fault("missing", "sandbox_not_found", `There is no sandbox ${sandboxId}.`);
  };
  await app.register(async (scoped) => {
    scoped.removeAllContentTypeParsers();
    // Bodies are passed on as they come.
    scoped.addContentTypeParser("*", (_request, _payload, done) => done(null));
    for (const url of ["/sandboxes/:sandbox_id/ports/:port", "/sandboxes/:sandbox_id/ports/:port/*"]) {
      scoped.all(url, { onRequest: [admit, leadUpgrade] }, lead);
    }
  });
}

function pathOf(request: FastifyRequest): PortPath {
  const path = readPortPath(request.url);
  if (path === null) throw new Fault("missing", "not_found", "Not Found");
  return path;
}

function query(url: string): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start);
}
