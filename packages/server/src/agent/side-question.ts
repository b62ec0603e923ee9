import type { ModelPart, ModelRequest, ModelResponse } from "../models/model.ts";
import { text } from "./observation-content.ts";

/** One question to a model that knows nothing else; `cacheKey` says what it is for. */
export function questionOf(instructions: string, asked: string, cacheKey: string): ModelRequest {
  return {
    messages: [
      { role: "system", content: [text(instructions)] },
      { role: "user", content: [text(asked)] },
    ],
    tools: [],
    cacheKey,
  };
}

/** How an answer ended, for callers that show nothing before that. Never rejects; `aborted` when the stream just ends. */
export async function lastPart(
  parts: AsyncIterable<ModelPart>,
): Promise<Extract<ModelPart, { type: "done" | "failed" | "aborted" }>> {
  for await (const part of parts) {
    if (part.type === "done" || part.type === "failed" || part.type === "aborted") return part;
  }
  return { type: "aborted" };
}

/** The words of an answer, without its calls. */
export function wordsOf({ message }: ModelResponse, separator = ""): string {
  return message.content.map((part) => part.text).join(separator);
}
