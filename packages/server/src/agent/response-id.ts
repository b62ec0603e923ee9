import { randomUUID } from "node:crypto";
import type { ModelResponse } from "../models/model.ts";
import type { ViewEvent } from "./history-view.ts";

/**
 * An answer under an id that no other answer of the view has: calls with one id are one answer to readers, and some providers give
 * the same id again. The provider's own id stays, with a mark behind it where it had been used.
 */
export function withOwnId(response: ModelResponse, view: readonly ViewEvent[]): ModelResponse {
  const { id } = response;
  const isUsed = view.some(({ event }) => {
    const other = "llm_response_id" in event ? event.llm_response_id : null;
    return typeof other === "string" && (other === id || other.startsWith(`${id}~`));
  });
  return isUsed ? { ...response, id: `${id}~${randomUUID().slice(0, 8)}` } : response;
}
