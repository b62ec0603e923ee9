import type { FastifyRequest } from "fastify";
import { findUnusedFields, type Validator } from "@convoke/protocol/validate";
import type { WebSocket } from "ws";
import type { Conversation } from "../../../engine/conversation.ts";
import type { Directory } from "../../../directory/directory.ts";
import type { Caller } from "../../../security/caller.ts";
import { describeFaults, faultsOfUnused } from "../../../http/unused-fields.ts";
import { Fault } from "../../../lib/fault.ts";
import { normalizeUuid } from "../../../lib/uuid7.ts";
import { wait } from "../../../lib/wait.ts";
import { parseObject } from "./socket-auth.ts";
import type { SocketFrames } from "./socket-frames.ts";
import type { SocketOutput } from "./socket-output.ts";

/** Shared parts of the sockets that attach a person to an agent's terminal, browser or shell. */

/** The conversation that the address names. */
export function readConversationId(request: FastifyRequest): string {
  const id = normalizeUuid((request.params as { conversationId: string }).conversationId);
  if (id === null) throw new Fault("refused", "bad_conversation_id", "The conversation id is not a UUID.");
  return id;
}

/** Null when it does not exist for this caller. */
export async function openIfThere(
  directory: Pick<Directory, "open">,
  caller: Caller,
  id: string,
): Promise<Conversation | null> {
  try {
    return await directory.open(caller, id);
  } catch (error) {
    if (error instanceof Fault && error.kind === "missing") return null;
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
