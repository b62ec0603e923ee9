import type { FastifyInstance, FastifyRequest } from "fastify";
import { ExecuteBashRequest } from "@convoke/protocol";
import type { Validator } from "@convoke/protocol/validate";
import type { WebSocket } from "ws";
import type { Caller, KeyRing } from "../../../http/auth.ts";
import { Fault } from "../../../lib/fault.ts";
import { formatInstant } from "../../../lib/instant.ts";
import type { Logger } from "../../../lib/logger.ts";
import { nextUuid7 } from "../../../lib/uuid7.ts";
import { toFault } from "../../../workspaces/to-fault.ts";
import type { OpenAccess, WorkspaceAccess } from "../../../workspaces/workspace-access.ts";
import { startBash } from "../workspace/bash-routes.ts";
import { closeCodes } from "./close-codes.ts";
import { EventFrames } from "./event-frames.ts";
import { authenticateFirstFrame, parseObject } from "./socket-auth.ts";
import { SocketFrames, type SocketFrame } from "./socket-frames.ts";
import { callerOfHandshake, checkHandshake, releaseExchange } from "./socket-handshake.ts";
import { SocketOutput } from "./socket-output.ts";
import type { SocketTimes } from "./socket-times.ts";

/** Whose commands a socket may reach. */
export type BashSocketScope = { readonly openAccess: OpenAccess; readonly keys: KeyRing };

export type BashSocketDeps = {
  readonly scopeOf: (request: FastifyRequest) => BashSocketScope;
  readonly validator: Validator;
  readonly logger: Logger;
  readonly times: SocketTimes;
};

/**
 * `/sockets/bash-events`: the caller's bash events as they are recorded, all from the beginning with `resend_mode=all`, from one
 * cursor, so that nothing is lost, doubled or out of order. Input frames start commands. Source: reference, agent-server 11.2.
 */
export function mountBashSocket(app: FastifyInstance, deps: BashSocketDeps, prefix = ""): void {
  const frames = new EventFrames();
  app.get(
    `${prefix}/sockets/bash-events`,
    {
      websocket: true,
      preHandler: releaseExchange,
      onRequest: async (request) => {
        wantsAll(request);
        checkHandshake(request, deps.scopeOf(request).keys);
      },
    },
    (socket, request) => {
      void serve(socket, request, deps, frames).catch((error: unknown) => {
        deps.logger.error({ error: String(error) }, "bash socket failed");
        socket.close(closeCodes.internal, "Internal error");
      });
    },
  );
}

async function serve(
  socket: WebSocket,
  request: FastifyRequest,
  deps: BashSocketDeps,
  sharedFrames: EventFrames,
): Promise<void> {
  const frames = new SocketFrames(socket);
  const { openAccess, keys } = deps.scopeOf(request);
  const output = new SocketOutput({
    socket,
    connection: request.socket,
    frames: sharedFrames,
    times: deps.times,
    hasHeartbeat: (request.query as Record<string, unknown>)["heartbeat"] === "true",
  });
  const caller =
    callerOfHandshake(request, keys) ??
    (await authenticateFirstFrame(frames, keys, deps.times.authDeadlineMs));
  request.noteSocket(caller);
  if (caller === null) {
    socket.close(closeCodes.authFailed, "Authentication failed");
    return;
  }
  const access = await openIfAllowed(openAccess, caller, request);
  if (access === null) {
    socket.close(closeCodes.authFailed, "The key may not use this machine");
    return;
  }
  const keyCheck = setInterval(() => {
    if (!keys.isStillGood(caller)) socket.close(closeCodes.authFailed, "The key was revoked");
  }, deps.times.keyCheckEveryMs).unref();
  try {
    const afterSeq = wantsAll(request) ? 0 : await access.bash.lastSeq();
    void readFrames(frames, { output, access, caller, deps });
    for await (const entries of access.bash.follow(caller.userId, afterSeq, output.closed)) {
      if (!(await output.send(entries))) return;
    }
    // The record ended before the socket did: its host stops.
    if (!output.closed.aborted) socket.close(closeCodes.goingAway, "The machine stops; connect again");
  } finally {
    clearInterval(keyCheck);
    output.end();
  }
}

async function openIfAllowed(
  openAccess: OpenAccess,
  caller: Caller,
  request: FastifyRequest,
): Promise<WorkspaceAccess | null> {
  try {
    return await openAccess(caller, request.params as Record<string, string>);
  } catch (error) {
    if (error instanceof Fault && (error.kind === "refused" || error.kind === "missing")) return null;
    throw error;
  }
}

/** Throws for a mode that nobody knows. `since` starts at the end like no mode: these events have no resume by time. */
function wantsAll(request: FastifyRequest): boolean {
  const query = request.query as Record<string, unknown>;
  const mode = query["resend_mode"];
  if (mode !== undefined && mode !== "all" && mode !== "since") {
    throw new Fault("refused", "bad_resend_mode", "resend_mode must be all or since, or left out.");
  }
  return mode === "all" || query["resend_all"] === "true";
}

type Input = {
  readonly output: SocketOutput;
  readonly access: WorkspaceAccess;
  readonly caller: Caller;
  readonly deps: BashSocketDeps;
};

/** One frame after the other; never rejects. */
async function readFrames(frames: SocketFrames, input: Input): Promise<void> {
  for (let frame = await frames.next(); frame !== null; frame = await frames.next())
    await receive(frame, input);
}

async function receive({ text }: SocketFrame, { output, access, caller, deps }: Input): Promise<void> {
  const bad = (code: string, detail: string): void => output.offer(errorFrame(code, detail));
  if (text === null) return bad("binary_frame", "Binary frames are not understood. Send JSON as text.");
  const frame = parseObject(text);
  if (frame === null) return bad("invalid_json", "The frame is not a JSON object. Send a command as JSON.");
  if (frame["type"] === "auth" && !("command" in frame)) return;
  const checked = deps.validator.check<ExecuteBashRequest>(ExecuteBashRequest, frame, ["command"]);
  if (!checked.ok) {
    const detail = checked.errors.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");
    return bad("invalid_command", detail);
  }
  try {
    await startBash(access, caller.userId, checked.value);
  } catch (thrown) {
    const error = toFault(thrown);
    if (error instanceof Fault) return bad(error.code, error.message);
    deps.logger.error({ error: String(error) }, "a command from a socket could not be started");
    bad("InternalError", "The command was not started. Send it again.");
  }
}

/** Goes to one socket and is stored nowhere. */
function errorFrame(code: string, detail: string): string {
  const nowMs = Date.now();
  return JSON.stringify({
    id: nextUuid7(null, nowMs).replaceAll("-", ""),
    timestamp: formatInstant(nowMs * 1_000),
    code,
    detail,
    kind: "BashError",
  });
}
