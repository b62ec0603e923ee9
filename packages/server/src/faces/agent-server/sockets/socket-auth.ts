import type { FastifyRequest } from "fastify";
import type { KeyRing } from "../../../http/auth.ts";
import type { Caller } from "../../../security/caller.ts";
import { Fault } from "../../../lib/fault.ts";
import { callerOfSocketLogin } from "../../../http/login-halves.ts";
import type { SocketFrames } from "./socket-frames.ts";

/**
 * Waits for `{"type":"auth","session_api_key":"..."}` as the first frame; a logged-in browser sends `proof` instead of
 * the key. Returns the caller; null when the frame is late, wrong or of another type.
 */
export async function authenticateFirstFrame(
  request: FastifyRequest,
  frames: SocketFrames,
  keys: KeyRing,
  deadlineMs: number,
): Promise<Caller | null> {
  const frame = await frames.next(deadlineMs);
  if (frame === null || frame.text === null) return null;
  const content = parseObject(frame.text);
  if (content?.["type"] !== "auth") return null;
  const { session_api_key: key, proof } = content;
  if (typeof key !== "string")
    return typeof proof === "string" ? callerOfSocketLogin(request, proof, keys) : null;
  try {
    return request.server.attemptLimit.find(request, key, (isLimited) => keys.identify(key, isLimited));
  } catch (error) {
    if (error instanceof Fault) return null; // The socket is closed like any other without a key.
    throw error;
  }
}

/** The JSON object in a text, null when there is none. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    // The caller of this function reports a frame that is no JSON object.
    return null;
  }
}
