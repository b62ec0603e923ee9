import type { AssistantMessage, ProviderReplay } from "./model.ts";

export type ReplayItem = Readonly<Record<string, unknown>>;

/**
 * The provider's items of an answer, or null when they are not this wire's and host's own, or when the history no longer
 * has the same calls: an answer that was changed goes back in its neutral form.
 */
export function replayedItems(message: AssistantMessage, wire: string, host: string): ReplayItem[] | null {
  const { replay } = message;
  if (replay === undefined || replay.wire !== wire || replay.host !== host) return null;
  const items = replay.items.filter((item) => typeof item === "object" && item !== null) as ReplayItem[];
  const replayed = items.flatMap((item) => (typeof item["call_id"] === "string" ? [item["call_id"]] : []));
  const current = message.toolCalls.map(({ id }) => id);
  const isSame = replayed.length === current.length && replayed.every((id, index) => id === current[index]);
  return isSame ? items : null;
}

/** Where items are sent back to; `model` where other models at the same host may refuse them. */
export type ReplayPlace = Omit<ProviderReplay, "items">;

/** The field for an assistant message; absent when there is nothing to give back. */
export function replayOf(
  place: ReplayPlace,
  items: readonly unknown[],
): { readonly replay?: ProviderReplay } {
  return items.length === 0 ? {} : { replay: { ...place, items } };
}
