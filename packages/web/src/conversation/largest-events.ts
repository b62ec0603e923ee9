import type { ShownMessage } from "./shown-message.ts";

const maxEvents = 10;

/** The share of a request that one event takes. */
export type LargeEvent = {
  readonly eventId: string;
  readonly role: string;
  readonly tool: string;
  readonly tokens: number;
};

/** The largest messages of a request that came from one event, largest first. */
export function largestEvents(messages: readonly ShownMessage[]): readonly LargeEvent[] {
  return messages
    .flatMap(({ eventIds: [eventId, ...others], role, tool, tokens }) =>
      eventId === undefined || others.length > 0 || tokens === 0 ? [] : [{ eventId, role, tool, tokens }],
    )
    .toSorted((left, right) => right.tokens - left.tokens)
    .slice(0, maxEvents);
}
