import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type KeyRing } from "../../http/auth.ts";
import { localUser, type Caller } from "../../security/caller.ts";
import { Fault } from "../../lib/fault.ts";
import type { Preview, SessionHolder, WorkspaceSessions } from "../../workspaces/workspace-session.ts";
import { allowPreflight, isPreflight } from "../gateway/allow-preflight.ts";
import type { SocketTimes } from "../agent-server/sockets/socket-times.ts";
import { ForwardedStreams } from "../gateway/forwarded-streams.ts";
import { forwardRequest, forwardUpgrade } from "../gateway/forward.ts";
import type { PortHeaderContext } from "../gateway/port-headers.ts";
import { readPreviewPath, type PreviewPath } from "./preview-path.ts";
import type { FarPorts } from "./far-ports.ts";

export type MountPreviewsDeps = {
  readonly ports: Pick<FarPorts, "connect">;
  readonly sessions: Pick<WorkspaceSessions, "readPreview">;
  readonly keys: Pick<KeyRing, "isOpen" | "isStillGood" | "roleOfUser">;
  readonly times: Pick<SocketTimes, "keyCheckEveryMs">;
};

/** `/previews/{capability}/`: the web server of a workspace program, in an opaque origin. */
export async function mountPreviews(
  app: FastifyInstance,
  { ports, sessions, keys, times }: MountPreviewsDeps,
): Promise<void> {
  const streams = new ForwardedStreams(times);
  const isStillGood = (holder: SessionHolder): boolean =>
    keys.isStillGood(holder) && keys.roleOfUser(holder.userId) !== "viewer";
  const open = async (request: FastifyRequest) => {
    const path = pathOf(request);
    const { holder, conversationId, port } = previewOf(path, sessions);
    const stream = await ports.connect(callerOf(request), conversationId, port);
    streams.watch(stream, () => isStillGood(holder));
    const context: PortHeaderContext = {
      path: { sandboxId: conversationId, portKey: path.capability, port, ...path },
      publicAddress: request.publicAddress,
      remoteAddress: request.socket.remoteAddress ?? "",
    };
    return { stream, context };
  };
  const admit = async (request: FastifyRequest): Promise<void> => {
    const { holder } = previewOf(pathOf(request), sessions);
    if (!isStillGood(holder)) throw over();
    request.caller = keys.isOpen ? { ...localUser } : { ...holder, means: "port key" };
  };
  const lead = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (isPreflight(request)) return allowPreflight(request, reply);
    const path = pathOf(request);
    // Relative links of a page need the slash.
    if (path.rest === "/" && !request.url.startsWith(`${path.prefix}/`)) {
      return reply.redirect(`${path.capability}/`, 308);
    }
    const { stream, context } = await open(request);
    reply.hijack();
    forwardRequest(request.raw, reply.raw, stream, context);
    return reply;
  };
  /** A hook, because every upgrade that comes to a handler is answered as a WebSocket of this server. */
  const leadUpgrade = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | void> => {
    if (!request.ws) return;
    const { stream, context } = await open(request);
    reply.hijack();
    request.noteSocket(request.caller);
    forwardUpgrade(request.raw, stream, context);
    return reply;
  };
  await app.register(async (scoped) => {
    scoped.removeAllContentTypeParsers();
    // Bodies are passed on as they come.
    scoped.addContentTypeParser("*", (_request, _payload, done) => done(null));
    for (const url of ["/previews/:capability", "/previews/:capability/*"])
      scoped.all(url, { onRequest: [admit, leadUpgrade] }, lead);
  });
}

function pathOf(request: FastifyRequest): PreviewPath {
  const path = readPreviewPath(request.url);
  if (path === null) throw new Fault("missing", "not_found", "Not Found");
  return path;
}

function previewOf({ capability }: PreviewPath, sessions: MountPreviewsDeps["sessions"]): Preview {
  const preview = sessions.readPreview(capability);
  if (preview === null) throw over();
  return preview;
}

function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === null) throw over();
  return caller;
}

function over(): Fault {
  return new Fault("missing", "preview_over", "The address of this preview is over. Open the preview again.");
}
