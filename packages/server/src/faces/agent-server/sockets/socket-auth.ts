import type { Caller, KeyRing } from "../../../http/auth.ts";
import type { SocketFrames } from "./socket-frames.ts";

/** Waits for `{"type":"auth","session_api_key":"..."}` as the first frame; the caller whose key it is, null when it is late, wrong or something else. */
export async function authenticateFirstFrame(
  frames: SocketFrames,
  keys: KeyRing,
  deadlineMs: number,
): Promise<Caller | null> {
  const frame = await frames.next(deadlineMs);
  if (frame === null || frame.text === null) return null;
  const content = parseObject(frame.text);
  const key = content?.["type"] === "auth" ? content["session_api_key"] : null;
  return typeof key === "string" ? keys.identify(key) : null;
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
