import type { SearchHit } from "@convoke/protocol";
import { expect, test } from "vitest";
import { addressOf, byConversation, filterOf, placeOf, parseQuery } from "./search-query.ts";

const hit = (conversation: string, event: string): SearchHit => ({
  conversation_id: conversation,
  event_id: event,
  title: null,
  timestamp: "2026-01-31T12:00:00.000000Z",
  kind: "MessageEvent",
  source: "user",
  tool_name: null,
  snippet: [],
});

test("J23: a search has an address, and anything else in it means everything", () => {
  for (const address of ["/search", "/search?q=%22a+b%22&what=outputs&days=7", "/search?q=x&what=said"])
    expect(addressOf(parseQuery(address.slice("/search".length)))).toBe(address);
  expect(parseQuery("?what=junk&days=3")).toEqual({ q: "", what: "all", days: 0 });
});

test("J23: the filters are those of the server", () => {
  const nowMs = Date.parse("2026-02-01T00:00:00Z");
  expect(filterOf({ q: "a", what: "said", days: 1 }, nowMs)).toEqual({
    q: "a",
    kind: "MessageEvent",
    source: "user",
    since: "2026-01-31T00:00:00.000Z",
  });
  expect(filterOf({ q: "a", what: "all", days: 0 }, nowMs)).toEqual({ q: "a" });
});

test("J23: hits of one conversation stand together, and open at their event", () => {
  const hits = [hit("b", "3"), hit("a", "2"), hit("b", "1")];
  expect(byConversation(hits)).toEqual([[hits[0], hits[2]], [hits[1]]]);
  expect(placeOf(hits[1]!, '"a b"')).toBe("/c/a?event=2&q=%22a+b%22");
});
