import type { FastifyRequest } from "fastify";
import { findUnusedFields, type Validator } from "@convoke/protocol/validate";
import type { WebSocket } from "ws";
import { describeFaults, faultsOfUnused } from "../../../http/unused-fields.ts";
import { Fault, type FaultKind } from "../../../lib/fault.ts";
import { normalizeUuid } from "../../../lib/uuid7.ts";
import { wait } from "../../../lib/wait.ts";
import { parseObject } from "./socket-auth.ts";
import type { SocketFrames } from "./socket-frames.ts";
import type { SocketOutput } from "./socket-output.ts";

/** Shared parts of the sockets of one conversation. */

/** The conversation that the address names. */
export function readConversationId(request: FastifyRequest): string {
  const id = normalizeUuid((request.params as { conversationId: string }).conversationId);
  if (id === null) throw new Fault("refused", "bad_conversation_id", "The conversation id is not a UUID.");
  return id;
}

/** Null when there is no such thing for this caller, or, among `kinds`, when they may not have it. */
export async function ifOpen<Opened>(
  opening: Promise<Opened>,
  kinds: readonly FaultKind[] = ["missing"],
): Promise<Opened | null> {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof Fault && kinds.includes(error.kind)) return null;
    throw error;
  }
}

/** Tells a person that their input has no effect. */
export function refusedFrame(_code: string, reason: string): string {
  return JSON.stringify({ type: "refused", reason });
}

const checkEveryMs = 20;

/**
 * Waits until at most that many bytes are unsent. False when the person has disconnected, which unanswered pings
 * detect.
 */
export async function untilRoom(
  socket: WebSocket,
  { closed }: SocketOutput,
  maxUnsentBytes: number,
): Promise<boolean> {
  while (!closed.aborted && socket.bufferedAmount > maxUnsentBytes) await wait(checkEveryMs, closed);
  return !closed.aborted;
}

export type InputReaderDeps = {
  readonly frames: SocketFrames;
  readonly validator: Validator;
  /** By their type. */
  readonly schemas: Readonly<Record<string, Parameters<Validator["check"]>[0]>>;
  /** Reports an invalid frame. */
  readonly refuse: (reason: string) => void;
};

/** The person's input, until they disconnect. */
export async function* readInputs<Input>({
  frames,
  validator,
  schemas,
  refuse,
}: InputReaderDeps): AsyncGenerator<Input> {
  for (let frame = await frames.next(); frame !== null; frame = await frames.next()) {
    const given = frame.text === null ? null : parseObject(frame.text);
    const { type } = given ?? {};
    if (type === "auth") continue;
    if (typeof type !== "string" || !Object.hasOwn(schemas, type)) {
      refuse(`A frame is a JSON object whose type is one of ${Object.keys(schemas).join(", ")}.`);
      continue;
    }
    const nearMisses = faultsOfUnused(findUnusedFields(schemas[type]!, given, ["frame"]));
    const checked = validator.check<Input>(schemas[type]!, given);
    if (nearMisses.length > 0) refuse(describeFaults(nearMisses));
    else if (checked.ok) yield checked.value;
    else refuse(describeFaults(checked.errors));
  }
}
