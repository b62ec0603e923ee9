import { formatInstant } from "../lib/instant.ts";
import { nextUuid7 } from "../lib/uuid7.ts";

/** A piece of an answer while it is being made; broadcast only, and only where the agent's `llm.stream` is on. */
export function deltaFrame(part: { readonly type: "text" | "reasoning"; readonly text: string }): string {
  const nowMs = Date.now();
  return JSON.stringify({
    id: nextUuid7(null, nowMs),
    timestamp: formatInstant(nowMs * 1000),
    source: "agent",
    ...(part.type === "text" ? { content: part.text } : { reasoning_content: part.text }),
    kind: "StreamingDeltaEvent",
  });
}
