import type { SearchHit } from "@convoke/protocol";

/** What is searched, as the address of the screen says it. */
export type SearchQuery = {
  readonly q: string;
  readonly what: What;
  /** Of the last so many days; 0 for ever. */
  readonly days: number;
};

export const whats = ["all", "said", "messages", "actions", "outputs"] as const;
export type What = (typeof whats)[number];
export const dayChoices = [0, 1, 7, 30] as const;

export function parseQuery(search: string): SearchQuery {
  const given = new URLSearchParams(search);
  const days = Number(given.get("days"));
  return {
    q: given.get("q") ?? "",
    what: whats.find((what) => what === given.get("what")) ?? "all",
    days: dayChoices.find((choice) => choice === days) ?? 0,
  };
}

/** The address of a screen that shows it. */
export function addressOf({ q, what, days }: SearchQuery): string {
  const query = new URLSearchParams({
    ...(q === "" ? {} : { q }),
    ...(what === "all" ? {} : { what }),
    ...(days === 0 ? {} : { days: String(days) }),
  }).toString();
  return query === "" ? "/search" : `/search?${query}`;
}

/** The same as the server is asked. */
export function filterOf({ q, what, days }: SearchQuery, nowMs: number) {
  const kinds = {
    all: {},
    said: { kind: "MessageEvent", source: "user" },
    messages: { kind: "MessageEvent" },
    actions: { kind: "ActionEvent" },
    outputs: { kind: "ObservationEvent" },
  } as const;
  const since = days === 0 ? {} : { since: new Date(nowMs - days * dayMs).toISOString() };
  return { q, ...kinds[what], ...since };
}

const dayMs = 86_400_000;

/** The hits of one conversation together, in the order in which the conversations were first met. */
export function byConversation(hits: readonly SearchHit[]): readonly (readonly SearchHit[])[] {
  return [...Map.groupBy(hits, (hit) => hit.conversation_id).values()];
}

/** Where a hit is opened. */
export function placeOf({ conversation_id: id, event_id: eventId }: SearchHit, q: string): string {
  return `/c/${id}?${new URLSearchParams({ event: eventId, q }).toString()}`;
}
