import type { ModelPart } from "../models/model.ts";

/** How an answer ended, for callers that show nothing before that. Never rejects; `aborted` when the stream just ends. */
export async function lastPart(
  parts: AsyncIterable<ModelPart>,
): Promise<Extract<ModelPart, { type: "done" | "failed" | "aborted" }>> {
  for await (const part of parts) {
    if (part.type === "done" || part.type === "failed" || part.type === "aborted") return part;
  }
  return { type: "aborted" };
}
