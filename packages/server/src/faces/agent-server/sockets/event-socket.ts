import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Message } from "@convoke/protocol";
import type { Validator } from "@convoke/protocol/validate";
import type { WebSocket } from "ws";
import type { Directory } from "../../../conversation/directory.ts";
import type { Watch } from "../../../conversation/watch.ts";
import type { Caller, KeyRing } from "../../../http/auth.ts";
import type { Journal } from "../../../journal/journal.ts";
import { Fault } from "../../../lib/fault.ts";
import type { Logger } from "../../../lib/logger.ts";
import { normalizeUuid } from "../../../lib/uuid7.ts";
import { closeCodes } from "./close-codes.ts";
import { authenticateFirstFrame } from "./socket-auth.ts";
import { EventFrames } from "./event-frames.ts";
import { SocketFrames, type SocketFrame } from "./socket-frames.ts";
import { callerOfHandshake, checkHandshake, releaseExchange } from "./socket-handshake.ts";
import { readSocketMessage, serverErrorFrame } from "./socket-input.ts";
import { SocketOutput } from "./socket-output.ts";
import { readResume, resumeSeq, type Resume } from "./socket-resume.ts";
import type { SocketTimes } from "./socket-times.ts";

/** What a socket may reach: all of a server, or the part that its address names. */
export type SocketScope = {
  readonly directory: Pick<Directory, "open" | "watch">;
  readonly keys: KeyRing;
};

export type EventSocketDeps = {
  readonly journal: Journal;
  readonly scopeOf: (request: FastifyRequest) => SocketScope;
  readonly validator: Validator;
  readonly logger: Logger;
  readonly times: SocketTimes;
};

/**
 * `/sockets/events/{conversation_id}`: a full_state frame, then stored events from one cursor, replay and live alike, so
 * that nothing is lost, doubled or out of order (P1, W21), whoever owns the conversation (P63). Input frames are user messages.
 */
export function mountEventSocket(app: FastifyInstance, deps: EventSocketDeps): void {
  const sharedFrames = new EventFrames();
  app.get(
    "/sockets/events/:conversationId",
    {
      websocket: true,
      preHandler: releaseExchange,
      onRequest: async (request) => {
        readTarget(request);
        checkHandshake(request, deps.scopeOf(request).keys);
      },
    },
    (socket, request) => {
      const scoped = { ...deps, ...deps.scopeOf(request) };
      void admit(socket, request, scoped, sharedFrames)
        .then(async (admitted) => {
          if (admitted !== null) await serve(socket, admitted, scoped);
        })
        .catch((error: unknown) => {
          deps.logger.error({ error: String(error) }, "event socket failed");
          socket.close(closeCodes.internal, "Internal error");
        });
    },
  );
}

type ScopedDeps = EventSocketDeps & SocketScope;

type Target = {
  readonly conversationId: string;
  readonly resume: Resume;
  readonly hasHeartbeat: boolean;
  readonly wantsItems: boolean;
};

function readTarget(request: FastifyRequest): Target {
  const { conversationId } = request.params as { conversationId: string };
  const id = normalizeUuid(conversationId);
  if (id === null) throw new Fault("refused", "bad_conversation_id", "The conversation id is not a UUID.");
  const query = request.query as Record<string, unknown>;
  return {
    conversationId: id,
    resume: readResume(query),
    hasHeartbeat: query["heartbeat"] === "true",
    wantsItems: query["deltas"] === "items",
  };
}

/** What a socket keeps of its handshake. */
type Admitted = {
  readonly target: Target;
  readonly caller: Caller;
  readonly frames: SocketFrames;
  readonly output: SocketOutput;
};

/** Null for a stranger, whose socket is closed. */
async function admit(
  socket: WebSocket,
  request: FastifyRequest,
  deps: ScopedDeps,
  sharedFrames: EventFrames,
): Promise<Admitted | null> {
  const frames = new SocketFrames(socket);
  const target = readTarget(request);
  const output = new SocketOutput({
    socket,
    connection: request.socket,
    frames: sharedFrames,
    times: deps.times,
    hasHeartbeat: target.hasHeartbeat,
  });
  const caller =
    callerOfHandshake(request, deps.keys) ??
    (await authenticateFirstFrame(frames, deps.keys, deps.times.authDeadlineMs));
  request.noteSocket(caller);
  if (caller !== null) return { target, caller, frames, output };
  socket.close(closeCodes.authFailed, "Authentication failed");
  return null;
}

async function serve(socket: WebSocket, admitted: Admitted, deps: ScopedDeps): Promise<void> {
  const { target, caller, frames, output } = admitted;
  const { conversationId, resume, wantsItems } = target;
  const watch = await watchIfThere(deps.directory, caller, conversationId);
  const sendAway = (): void => socket.close(closeCodes.notFound, "Conversation not found");
  if (watch === null) {
    sendAway();
    return;
  }
  const afterSeq = await resumeSeq(deps.journal, conversationId, resume);
  if (afterSeq === null) {
    socket.close(closeCodes.badResume, "after_event_id names no event of this conversation");
    return;
  }
  let hasState = false;
  const stopListening = watch.listen({
    // The state comes first, and is newer than what was shown before it.
    onSignal: (json) => hasState && output.offer(json),
    onEnd: sendAway,
    wantsItems,
  });
  const keyCheck = setInterval(() => {
    if (!deps.keys.isStillGood(caller)) socket.close(closeCodes.authFailed, "The key was revoked");
  }, deps.times.keyCheckEveryMs).unref();
  const reading = readFrames(frames, { output, deps, caller, conversationId });
  try {
    const state = await watch.fullStateFrame();
    if (state === null) {
      sendAway();
      return;
    }
    output.offer(state);
    hasState = true;
    for await (const events of watch.follow({ afterSeq, signal: output.closed })) {
      if (!(await output.send(events))) return;
    }
  } finally {
    clearInterval(keyCheck);
    stopListening();
    output.end();
    await reading;
  }
}

async function watchIfThere(
  directory: SocketScope["directory"],
  caller: Caller,
  id: string,
): Promise<Watch | null> {
  try {
    return await directory.watch(caller, id);
  } catch (error) {
    if (error instanceof Fault && error.kind === "missing") return null;
    throw error;
  }
}

type Input = {
  readonly output: SocketOutput;
  readonly deps: ScopedDeps;
  readonly caller: Caller;
  readonly conversationId: string;
};

/** One frame after the other, so that messages keep their order; never rejects. */
async function readFrames(frames: SocketFrames, input: Input): Promise<void> {
  for (let frame = await frames.next(); frame !== null; frame = await frames.next())
    await receive(frame, input);
}

/** A message always asks for a run; whatever is wrong with a frame is told to this socket alone. */
async function receive(frame: SocketFrame, { output, deps, caller, conversationId }: Input): Promise<void> {
  const read = readSocketMessage(frame, deps.validator);
  if (read.type === "ignore") return;
  if (read.type === "error") {
    output.offer(serverErrorFrame(read.code, read.detail));
    return;
  }
  try {
    const conversation = await deps.directory.open(caller, conversationId);
    const message: Message = read.message;
    await conversation.send({
      message,
      wantsRun: true,
      ...(read.clientMessageId === undefined ? {} : { clientMessageId: read.clientMessageId }),
    });
  } catch (error) {
    const isFault = error instanceof Fault;
    if (!isFault) deps.logger.error({ error: String(error) }, "message from a socket could not be stored");
    output.offer(
      serverErrorFrame(
        isFault ? error.code : "InternalError",
        isFault ? error.message : "The message was not stored. Send it again.",
      ),
    );
  }
}
