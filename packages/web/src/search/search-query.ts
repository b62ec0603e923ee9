import type { SearchHit } from "@convoke/protocol";

/** A search, as the URL of the page states it. */
export type SearchQuery = {
  readonly q: string;
  readonly what: What;
  /** Within the last `days` days; 0 for any time. */
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

/** The URL of the search page with this query. */
export function addressOf({ q, what, days }: SearchQuery): string {
  const query = new URLSearchParams({
    ...(q === "" ? {} : { q }),
    ...(what === "all" ? {} : { what }),
    ...(days === 0 ? {} : { days: String(days) }),
  }).toString();
  return query === "" ? "/search" : `/search?${query}`;
}

/** The query as request parameters. */
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

/** Groups hits by conversation, in the order of the first hit of each. */
export function byConversation(hits: readonly SearchHit[]): readonly (readonly SearchHit[])[] {
  return [...Map.groupBy(hits, (hit) => hit.conversation_id).values()];
}

/** The URL that opens a hit. */
export function placeOf({ conversation_id: id, event_id: eventId }: SearchHit, q: string): string {
  return `/c/${id}?${new URLSearchParams({ event: eventId, q }).toString()}`;
}
