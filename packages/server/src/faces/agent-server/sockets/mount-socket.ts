import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import { OwnedElsewhere } from "../../../engine/refusals.ts";
import type { KeyRing } from "../../../http/auth.ts";
import type { Caller } from "../../../security/caller.ts";
import { isOutsideScope } from "../../../security/key-scope.ts";
import { isAtLeast, roleOf, roleSentence } from "../../../security/roles.ts";
import { hereOrThere } from "../../../http/here-or-there.ts";
import type { Peers } from "../../../cluster/peers.ts";
import type { Logger } from "../../../lib/logger.ts";
import { Fault } from "../../../lib/fault.ts";
import { storageFault } from "../../../lib/storage-fault.ts";
import { closeCodes } from "./close-codes.ts";
import { EventFrames } from "./event-frames.ts";
import { relaySocket } from "./relay-socket.ts";
import { SharedTimer } from "./shared-timer.ts";
import { authenticateFirstFrame, parseObject } from "./socket-auth.ts";
import { SocketFrames } from "./socket-frames.ts";
import { callerOfHandshake, checkHandshake, releaseExchange } from "./socket-handshake.ts";
import { readFlag, type SocketQuery } from "./socket-query.ts";
import { checkEveryMs, SocketOutput } from "./socket-output.ts";
import type { SocketTimes } from "./socket-times.ts";

/**
 * The target that a handshake requests, in the form that the socket's route needs, and the callers that are admitted.
 */
export type SocketTarget = { readonly keys: KeyRing; readonly frames?: EventFrames };

export type SocketRoute<Target extends SocketTarget> = {
  readonly path: string;
  /** For the log: `terminal socket`. */
  readonly name: string;
  readonly logger: Logger;
  readonly times: SocketTimes;
  /** Throws a Fault for an impossible address; the handshake is then refused. */
  readonly readTarget: (request: FastifyRequest) => Target;
  /** Serves one client until the socket is closed; what it throws closes the socket. */
  readonly serve: (admitted: Admitted<Target>) => Promise<void>;
  /** The frame that refuses an input of a client; absent: the socket ignores all inputs. */
  readonly refusal?: (code: string, detail: string) => string;
  /**
   * For the key of one conversation: `filtered` where a socket whose path names none shows that one alone, `outside`
   * where the socket is closed to it. Absent: it has the socket of its conversation.
   */
  readonly scope?: "filtered" | "outside";
  /** True where the link of a shared conversation may listen, unless it ends at an event. */
  readonly inShare?: true;
  /** For sockets that only the conversation's owner can serve; absent: every node serves. */
  readonly owner?: SocketOwner<Target>;
};

export type SocketOwner<Target> = {
  readonly peers: Peers;
  /** Rejects with `OwnedElsewhere` when another node is the owner. */
  readonly find: (caller: Caller, target: Target) => Promise<unknown>;
};

/** The facts of the handshake that a socket needs later. */
export type Admitted<Target> = {
  readonly socket: WebSocket;
  readonly target: Target;
  readonly caller: Caller;
  readonly frames: SocketFrames;
  readonly output: SocketOutput;
  /**
   * Null for a socket that another node has relayed, which is not relayed again, and where no other node may be asked.
   */
  readonly path: string | null;
};

/**
 * Mounts a socket for callers with a valid key, in the handshake or in the first frame. It is closed when the key is
 * revoked or expires, and when its user gets a lesser role.
 */
export function mountSocket<Target extends SocketTarget>(
  app: FastifyInstance,
  route: SocketRoute<Target>,
): void {
  const timer = new SharedTimer<SocketOutput>(checkEveryMs(route.times), (output) => output.check());
  const keyChecks = new SharedTimer<Admitted<Target>>(route.times.keyCheckEveryMs, checkKey);
  app.get(
    route.path,
    {
      websocket: true,
      preHandler: releaseExchange,
      onRequest: async (request, reply) => {
        if (!request.ws) throw upgradeRequired(reply);
        // Shared by all sockets, so it does not depend on the target.
        readFlag(request.query as SocketQuery, "heartbeat");
        const target = route.readTarget(request);
        const caller = route.owner?.peers.callerOf(request) ?? null;
        if (caller === null) checkHandshake(request, reply, target.keys);
        // A relaying node tries elsewhere when this node is not the owner.
        else await route.owner?.find(caller, target);
      },
    },
    (socket, request) => {
      // The socket must not keep the request alive.
      void admit(socket, request, route, timer)
        .then((admitted) => {
          if (admitted !== null) void serve(admitted, route, keyChecks);
        })
        .catch((error: unknown) => closeFailed(socket, route, error));
    },
  );
}

function upgradeRequired(reply: FastifyReply): Fault {
  reply.headers({ connection: "upgrade", upgrade: "websocket" });
  return new Fault(
    "no-upgrade",
    "upgrade_required",
    "This address is a WebSocket. Connect to it with a WebSocket client (ws:// or wss://).",
  );
}

function closeFailed(
  socket: WebSocket,
  { logger, name }: Pick<SocketRoute<SocketTarget>, "logger" | "name">,
  error: unknown,
): void {
  if (error instanceof OwnedElsewhere) {
    socket.close(closeCodes.tryAgainLater, "The server that works on this conversation does not answer");
    return;
  }
  if (storageFault(error)?.code === "database_away") {
    socket.close(closeCodes.tryAgainLater, "The database does not answer");
    return;
  }
  logger.error({ error: String(error) }, `${name} failed`);
  socket.close(closeCodes.internal, "Internal error");
}

/** Null for a caller without a valid key, whose socket is closed. */
async function admit<Target extends SocketTarget>(
  socket: WebSocket,
  request: FastifyRequest,
  { readTarget, times, owner, refusal, scope, inShare }: SocketRoute<Target>,
  timer: SharedTimer<SocketOutput>,
): Promise<Admitted<Target> | null> {
  const frames = new SocketFrames(socket);
  const target = readTarget(request);
  const output = new SocketOutput({
    socket,
    connection: request.socket,
    frames: target.frames ?? new EventFrames(),
    times,
    checks: timer,
    hasHeartbeat: readFlag(request.query as SocketQuery, "heartbeat"),
  });
  const forwarded = owner?.peers.callerOf(request) ?? null;
  const path = owner === undefined || forwarded !== null ? null : pathOf(request);
  const known = forwarded === null ? callerOfHandshake(request, target.keys) : null;
  const caller =
    forwarded ?? known ?? (await authenticateFirstFrame(request, frames, target.keys, times.authDeadlineMs));
  request.noteSocket(caller);
  // With a key in its handshake it is counted already.
  const isCounted = forwarded !== null || known !== null;
  if (caller !== null && !isCounted && request.server.rateLimits.take(caller)?.refusal != null) {
    socket.close(closeCodes.tryAgainLater, "Too many requests; try again later");
    return null;
  }
  if (caller !== null && !isReachable(caller, request, { scope, inShare })) {
    socket.close(closeCodes.notFound, "Not found for this key, which is for one conversation");
    return null;
  }
  if (caller !== null) {
    if (refusal !== undefined) dropInputsOfViewers(caller, { frames, output, refusal });
    return { socket, target, caller, frames, output, path };
  }
  socket.close(closeCodes.authFailed, "Authentication failed");
  return null;
}

/** Whether a socket is in the scope of the caller's key. */
function isReachable(
  caller: Caller,
  { params }: FastifyRequest,
  { scope, inShare }: { scope: SocketRoute<SocketTarget>["scope"]; inShare: true | undefined },
): boolean {
  if (caller.share !== undefined && (inShare !== true || caller.share.upTo !== null)) return false;
  if (caller.onlyConversation === undefined || scope === "filtered") return true;
  const { conversationId } = params as { readonly conversationId?: string };
  return scope !== "outside" && conversationId !== undefined && !isOutsideScope(caller, conversationId);
}

/** A viewer reads: every input is a message, a command or a keystroke. */
function dropInputsOfViewers(
  caller: Caller,
  { frames, output, refusal }: Pick<Admitted<never>, "frames" | "output"> & RefusesInputs,
): void {
  const role = roleOf(caller);
  if (isAtLeast(role, "member")) return;
  frames.drop(({ text }) => {
    const isAuth = text !== null && parseObject(text)?.["type"] === "auth";
    if (!isAuth) output.offer(refusal("role_refused", roleSentence(role, "member")));
  });
}

type RefusesInputs = Required<Pick<SocketRoute<SocketTarget>, "refusal">>;

/** Never rejects. */
async function serve<Target extends SocketTarget>(
  admitted: Admitted<Target>,
  route: SocketRoute<Target>,
  keyChecks: SharedTimer<Admitted<Target>>,
): Promise<void> {
  const isForwarded = admitted.path === null && route.owner !== undefined;
  if (!isForwarded) keyChecks.add(admitted);
  try {
    await (route.owner === undefined ? route.serve(admitted) : serveHereOrThere(admitted, route));
  } catch (error) {
    closeFailed(admitted.socket, route, error);
  } finally {
    keyChecks.delete(admitted);
    admitted.output.end();
  }
}

function checkKey({ socket, target, caller, frames }: Admitted<SocketTarget>): void {
  if (target.keys.isStillGood(caller)) return;
  socket.close(closeCodes.authFailed, "The key has ended, or may less");
  frames.end();
}

async function serveHereOrThere<Target extends SocketTarget>(
  admitted: Admitted<Target>,
  { serve: serveHere, owner }: SocketRoute<Target>,
): Promise<void> {
  const { path, output } = admitted;
  if (owner === undefined || path === null) return await serveHere(admitted);
  const { peers } = owner;
  const here = async (): Promise<true> => {
    await serveHere(admitted);
    return true;
  };
  const there = (nodeId: string): Promise<true | null> => relaySocket(peers, nodeId, { ...admitted, path });
  await hereOrThere(here, there, peers.ownerTimeoutMs, { signal: output.closed });
}

/** Without hop-by-hop headers. */
function pathOf({ url }: FastifyRequest): string {
  const { pathname, searchParams } = new URL(url, "http://localhost");
  for (const name of ["session_api_key", "heartbeat"]) searchParams.delete(name);
  const query = searchParams.toString();
  return query === "" ? pathname : `${pathname}?${query}`;
}
