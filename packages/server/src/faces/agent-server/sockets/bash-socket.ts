import type { FastifyInstance, FastifyRequest } from "fastify";
import { ExecuteBashRequest } from "@convoke/protocol";
import { findUnusedFields } from "@convoke/protocol/validate";
import type { Caller } from "../../../security/caller.ts";
import { describeFaults, faultsOfUnused } from "../../../http/unused-fields.ts";
import { Fault } from "../../../lib/fault.ts";
import { formatInstant } from "../../../lib/instant.ts";
import { nextUuid7 } from "../../../lib/uuid7.ts";
import { toFault } from "../../../workspaces/to-fault.ts";
import type { OpenAccess, WorkspaceAccess } from "../../../workspaces/workspace-access.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { startBash } from "../shells/bash-routes.ts";
import { closeCodes } from "./close-codes.ts";
import { EventFrames } from "./event-frames.ts";
import { mountSocket, type Admitted, type SocketTarget } from "./mount-socket.ts";
import { ifOpen } from "./person-socket.ts";
import { parseObject } from "./socket-auth.ts";
import type { SocketFrames, SocketFrame } from "./socket-frames.ts";
import { readChoice, readFlag, refuseNearMisses, type SocketQuery } from "./socket-query.ts";
import type { SocketOutput } from "./socket-output.ts";
import type { SocketTimes } from "./socket-times.ts";

export type BashSocketDeps = Pick<FaceDeps, "validator" | "logger"> & {
  /** The access to the commands that a socket may reach. */
  readonly scopeOf: (request: FastifyRequest) => Pick<FaceDeps, "openAccess" | "keys">;
  readonly times: SocketTimes;
};

/**
 * `/sockets/bash-events`: the caller's bash events as they are recorded, all from the beginning with `resend_mode=all`, from one
 * cursor, so that nothing is lost, doubled or out of order. Input frames start commands.
 */
export function mountBashSocket(app: FastifyInstance, deps: BashSocketDeps, prefix = ""): void {
  const frames = new EventFrames();
  mountSocket<Target>(app, {
    path: `${prefix}/sockets/bash-events`,
    name: "bash socket",
    logger: deps.logger,
    times: deps.times,
    readTarget: (request) => ({
      ...deps.scopeOf(request),
      frames,
      params: request.params as Record<string, string>,
      wantsAll: wantsAll(request),
    }),
    refusal: errorFrame,
    serve: (admitted) => serve(admitted, deps),
  });
}

type Target = SocketTarget & {
  readonly openAccess: OpenAccess;
  readonly params: Readonly<Record<string, string>>;
  readonly wantsAll: boolean;
};

async function serve(
  { socket, target, caller, frames, output }: Admitted<Target>,
  deps: BashSocketDeps,
): Promise<void> {
  const access = await ifOpen(target.openAccess(caller, target.params), ["missing", "refused"]);
  if (access === null) {
    socket.close(closeCodes.authFailed, "The key may not use this machine");
    return;
  }
  const afterSeq = target.wantsAll ? 0 : await access.bash.lastSeq();
  void readFrames(frames, { output, access, caller, deps });
  for await (const entries of access.bash.follow(caller.userId, afterSeq, output.closed)) {
    if (!(await output.send(entries))) return;
  }
  // The record ended before the socket did: its host stops.
  if (!output.closed.aborted) socket.close(closeCodes.leaving, "The machine stops; connect again");
}

/** Throws for an unknown mode. `since` starts at the end, as without a mode: these events cannot be resumed by time. */
function wantsAll(request: FastifyRequest): boolean {
  const query = request.query as SocketQuery;
  refuseNearMisses(query, ["resend_mode", "resend_all", "after_timestamp"]);
  const mode = readChoice(query, "resend_mode", ["all", "since"]);
  return readFlag(query, "resend_all") || mode === "all";
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
  const nearMisses = faultsOfUnused(findUnusedFields(ExecuteBashRequest, frame, ["command"]));
  const checked = deps.validator.check<ExecuteBashRequest>(ExecuteBashRequest, frame, ["command"]);
  if (nearMisses.length > 0) return bad("invalid_command", describeFaults(nearMisses));
  if (!checked.ok) {
    return bad("invalid_command", describeFaults(checked.errors));
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

/** Sent to one socket and never stored. */
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
