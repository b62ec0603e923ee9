import type { FastifyRequest } from "fastify";
import type { KeyRing } from "../../../http/auth.ts";
import type { Caller } from "../../../security/caller.ts";
import { callerOfSocketLogin } from "../../../http/login-halves.ts";
import type { SocketFrames } from "./socket-frames.ts";

/**
 * Waits for `{"type":"auth","session_api_key":"..."}`, or with `proof` in the place of the key from a browser that is logged in, as the
 * first frame; the caller whose it is, null when it is late, wrong or something else.
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
  if (typeof key === "string") return keys.identify(key);
  return typeof proof === "string" ? callerOfSocketLogin(request, proof, keys) : null;
}

/** The JSON object in a text, null when there is none. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    // The caller answers a frame that is no JSON object.
    return null;
  }
}
