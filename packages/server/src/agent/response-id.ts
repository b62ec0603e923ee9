import { randomUUID } from "node:crypto";
import type { Event } from "@convoke/protocol";
import type { ModelResponse } from "../models/model.ts";

/**
 * An answer under an id that no other answer of the view has: calls with one id are one answer to readers, and some providers give
 * the same id again. The provider's own id stays, with a mark behind it where it had been used.
 */
export function withOwnId(response: ModelResponse, used: ReadonlySet<string>): ModelResponse {
  const { id } = response;
  return used.has(id) ? { ...response, id: `${id}~${randomUUID().slice(0, 8)}` } : response;
}

/** What is used up by the answer of an event: its id, and what stands before each mark. */
export function idsUsedBy(event: Event): string[] {
  const id = "llm_response_id" in event ? event.llm_response_id : null;
  if (typeof id !== "string") return [];
  const parts = id.split("~");
  return parts.map((_, index) => parts.slice(0, index + 1).join("~"));
}
