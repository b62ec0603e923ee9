import type { FastifyInstance, FastifyRequest } from "fastify";
import { trimLimits } from "@convoke/protocol";
import type { Directory } from "../../../directory/directory.ts";
import type { KeyRing } from "../../../http/auth.ts";
import type { Caller } from "../../../security/caller.ts";
import type { Peers } from "../../../cluster/peers.ts";
import { toSharedEvent } from "../../../reading/shared-view.ts";
import { Fault } from "../../../lib/fault.ts";
import { storageFault } from "../../../lib/storage-fault.ts";
import type { AskedOwner } from "./at-owner.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { closeCodes } from "./close-codes.ts";
import { mountSocket, type Admitted, type SocketTarget } from "./mount-socket.ts";
import type { NodeSignals } from "./node-signals.ts";
import { EventStream, type EventStreamDeps, type WantedSignals } from "./event-stream.ts";
import { batchLimits } from "./chunk-batches.ts";
import { ifOpen, readConversationId } from "./person-socket.ts";
import { SharedFrames } from "./shared-frames.ts";
import type { SocketFrame } from "./socket-frames.ts";
import { sendMessage } from "./send-message.ts";
import { sendToolResults } from "./send-tool-results.ts";
import { readSocketMessage, serverErrorFrame } from "./socket-input.ts";
import type { SocketOutput } from "./socket-output.ts";
import { readChoice, readFlag, readWhole, refuseNearMisses, type SocketQuery } from "./socket-query.ts";
import { readResume, resumeParameters, resumeSeq, type Resume } from "./socket-resume.ts";
import type { SocketTimes } from "./socket-times.ts";

/** The scope of a socket: the whole server, or the sandbox that its address names. */
export type SocketScope = {
  readonly directory: Pick<Directory, "open" | "watch">;
  readonly keys: KeyRing;
};

export type EventSocketDeps = Pick<FaceDeps, "journal" | "trimmed" | "validator" | "logger"> & {
  readonly scopeOf: (request: FastifyRequest) => SocketScope;
  /** Forwards messages to the owning node; absent: they are not forwarded. */
  readonly peers?: Peers;
  /** Receives a conversation's signals from other nodes; absent: no signals are received. */
  readonly nodeSignals: Pick<NodeSignals, "follow"> | undefined;
  readonly times: SocketTimes;
};

/**
 * `/sockets/events/{conversation_id}`: a full_state frame, then stored events from one cursor, replay and live alike, so
 * that nothing is lost, doubled or out of order (P1, W21), no matter which node owns the conversation (P63). Input frames are user messages and results of client tools.
 */
export function mountEventSocket(app: FastifyInstance, deps: EventSocketDeps): void {
  const sharedFrames = new SharedFrames(deps.trimmed);
  mountSocket<Target>(app, {
    path: "/sockets/events/:conversationId",
    name: "event socket",
    inShare: true,
    logger: deps.logger,
    times: deps.times,
    readTarget: (request) => readTarget(request, deps.scopeOf(request), sharedFrames),
    refusal: serverErrorFrame,
    serve: (admitted) => serve(admitted, deps),
  });
}

type Target = SocketTarget & {
  readonly directory: SocketScope["directory"];
  readonly conversationId: string;
  readonly resume: Resume;
  readonly wanted: WantedSignals;
};

function readTarget(request: FastifyRequest, scope: SocketScope, sharedFrames: SharedFrames): Target {
  const conversationId = readConversationId(request);
  const query = request.query as SocketQuery;
  refuseNearMisses(query, [...resumeParameters, "deltas", "progress", "standing", "beat", "trim"]);
  return {
    ...scope,
    conversationId,
    resume: readResume(query),
    wanted: {
      wantsItems: readChoice(query, "deltas", ["items"]) !== null,
      wantsProgress: readFlag(query, "progress"),
      wantsLiveStatus: readFlag(query, "standing"),
      batchMs: readWhole(query, "beat", batchLimits) ?? 0,
    },
    frames: sharedFrames.of(readWhole(query, "trim", trimLimits)),
  };
}

async function serve(
  { socket, target, caller, frames, output }: Admitted<Target>,
  deps: EventSocketDeps,
): Promise<void> {
  const { directory, conversationId, resume, wanted } = target;
  const watch = await ifOpen(directory.watch(caller, conversationId));
  const onEvicted = (): void => socket.close(closeCodes.notFound, "Conversation not found");
  if (watch === null) return onEvicted();
  const afterSeq = await resumeSeq(deps.journal, conversationId, resume);
  if (afterSeq === null) {
    socket.close(closeCodes.badResume, "after_event_id names no event of this conversation");
    return;
  }
  using stream = new EventStream({ watch, output, onEvicted, ...wanted, ...limitsOf(caller) });
  const stopFollowing = deps.nodeSignals?.follow(conversationId);
  const asked = { ...deps, directory, caller, conversationId };
  frames.each((frame) => receive(frame, { output, deps, asked }));
  try {
    await stream.send(afterSeq);
  } finally {
    stopFollowing?.();
    output.end();
  }
}

/** Share links get the events without what only the owner needs. */
function limitsOf({ share }: Caller): Partial<Pick<EventStreamDeps, "toShown" | "wantsLiveStatus">> {
  if (share === undefined) return {};
  return { toShown: (json) => toSharedEvent(json, share), wantsLiveStatus: false };
}

type Input = {
  readonly output: SocketOutput;
  readonly deps: EventSocketDeps;
  readonly asked: AskedOwner;
};

/** A message always requests a run, and a result lets one go on; errors in a frame are reported to this socket only. */
async function receive(frame: SocketFrame, { output, deps, asked }: Input): Promise<void> {
  const read = readSocketMessage(frame, deps.validator);
  if (read.type === "ignore") return;
  if (read.type === "error") {
    output.offer(serverErrorFrame(read.code, read.detail));
    return;
  }
  try {
    if (read.type === "tool_results") {
      await sendToolResults(asked, read.results);
      return;
    }
    const { clientMessageId } = read;
    const eventId = await sendMessage(asked, read);
    if (clientMessageId === undefined) return;
    output.offer(JSON.stringify({ kind: "Accepted", client_message_id: clientMessageId, event_id: eventId }));
  } catch (error) {
    const fault = error instanceof Fault ? error : storageFault(error);
    if (fault === null)
      deps.logger.error({ error: String(error) }, "what came over a socket could not be stored");
    output.offer(
      serverErrorFrame(
        fault?.code ?? "InternalError",
        fault?.message ?? "What was sent was not stored. Send it again.",
      ),
    );
  }
}
