import type { FastifyInstance, FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import type { Caller, KeyRing } from "../../../http/auth.ts";
import type { Logger } from "../../../lib/logger.ts";
import { storageFault } from "../../../lib/storage-fault.ts";
import { closeCodes } from "./close-codes.ts";
import { EventFrames } from "./event-frames.ts";
import { authenticateFirstFrame } from "./socket-auth.ts";
import { SocketFrames } from "./socket-frames.ts";
import { callerOfHandshake, checkHandshake, releaseExchange } from "./socket-handshake.ts";
import { SocketOutput } from "./socket-output.ts";
import type { SocketTimes } from "./socket-times.ts";

/** What a handshake asks for, in whatever form serves the socket, and who is let in. */
export type SocketTarget = { readonly keys: KeyRing; readonly frames?: EventFrames };

export type SocketRoute<Target extends SocketTarget> = {
  readonly path: string;
  /** For the log: `terminal socket`. */
  readonly name: string;
  readonly logger: Logger;
  readonly times: SocketTimes;
  /** Throws a Fault, by which the handshake is refused, for an address that cannot be. */
  readonly readTarget: (request: FastifyRequest) => Target;
  /** Serves one client until the socket is closed; what it throws closes the socket. */
  readonly serve: (admitted: Admitted<Target>) => Promise<void>;
};

/** What a socket keeps of its handshake. */
export type Admitted<Target> = {
  readonly socket: WebSocket;
  readonly target: Target;
  readonly caller: Caller;
  readonly frames: SocketFrames;
  readonly output: SocketOutput;
};

/** A socket for callers with a good key, given in the handshake or in the first frame; it is closed when the key is revoked. */
export function mountSocket<Target extends SocketTarget>(
  app: FastifyInstance,
  route: SocketRoute<Target>,
): void {
  app.get(
    route.path,
    {
      websocket: true,
      preHandler: releaseExchange,
      onRequest: async (request) => checkHandshake(request, route.readTarget(request).keys),
    },
    (socket, request) => {
      void admit(socket, request, route)
        .then(async (admitted) => {
          if (admitted !== null) await serve(admitted, route);
        })
        .catch((error: unknown) => {
          if (storageFault(error)?.code === "database_away") {
            socket.close(closeCodes.tryAgainLater, "The database does not answer");
            return;
          }
          route.logger.error({ error: String(error) }, `${route.name} failed`);
          socket.close(closeCodes.internal, "Internal error");
        });
    },
  );
}

/** Null for a stranger, whose socket is closed. */
async function admit<Target extends SocketTarget>(
  socket: WebSocket,
  request: FastifyRequest,
  { readTarget, times }: SocketRoute<Target>,
): Promise<Admitted<Target> | null> {
  const frames = new SocketFrames(socket);
  const target = readTarget(request);
  const output = new SocketOutput({
    socket,
    connection: request.socket,
    frames: target.frames ?? new EventFrames(),
    times,
    hasHeartbeat: (request.query as { heartbeat?: string }).heartbeat === "true",
  });
  const caller =
    callerOfHandshake(request, target.keys) ??
    (await authenticateFirstFrame(request, frames, target.keys, times.authDeadlineMs));
  request.noteSocket(caller);
  if (caller !== null) return { socket, target, caller, frames, output };
  socket.close(closeCodes.authFailed, "Authentication failed");
  return null;
}

async function serve<Target extends SocketTarget>(
  admitted: Admitted<Target>,
  route: SocketRoute<Target>,
): Promise<void> {
  const { socket, target, caller, output } = admitted;
  const keyCheck = setInterval(() => {
    if (!target.keys.isStillGood(caller)) socket.close(closeCodes.authFailed, "The key was revoked");
  }, route.times.keyCheckEveryMs).unref();
  try {
    await route.serve(admitted);
  } finally {
    clearInterval(keyCheck);
    output.end();
  }
}
