import type { Event, TrimmedEvent } from "@convoke/protocol";

/** What was cut off an event requested with `trim`; null when it is complete. */
export type Trimmed = Pick<TrimmedEvent, "size" | "cut"> | null;

/** The event, and what was trimmed off it. */
export function untrim(item: Event | TrimmedEvent): { readonly event: Event; readonly trimmed: Trimmed } {
  if (item.kind !== "TrimmedEvent") return { event: item, trimmed: null };
  const { event, size, cut } = item;
  return { event: event as unknown as Event, trimmed: { size, cut } };
}
