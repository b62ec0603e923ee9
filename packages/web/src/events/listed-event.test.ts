import { expect, test } from "vitest";
import { listedEvent, withNewest, type ListedPage } from "./listed-event.ts";

const event = {
  id: "2",
  timestamp: "2026-11-23T10:00:00Z",
  source: "agent",
  kind: "ActionEvent",
  tool_name: "terminal",
};

test("an event is listed with its kind, its tool and how long it is, also when it came without its large parts", () => {
  const listed = {
    id: "2",
    kind: "ActionEvent",
    source: "agent",
    at: "2026-11-23T10:00:00Z",
    what: "terminal",
  };
  expect(listedEvent(event)).toEqual({ ...listed, size: JSON.stringify(event).length });
  const trimmed = { ...event, kind: "TrimmedEvent", size: 90_000, event, cut: [] };
  expect(listedEvent(trimmed)).toEqual({ ...listed, size: 90_000 });
});

test("what is new comes before what was read, and a gap is not passed over in silence", () => {
  const page = (ids: string, nextPageId: string | null): ListedPage => ({
    items: Array.from(ids, (id) => listedEvent({ ...event, id })),
    nextPageId,
  });
  expect(withNewest(null, page("32", "1"))).toEqual(page("32", "1"));
  expect(withNewest(page("3210", null), page("543", "2"))).toEqual(page("543210", null));
  expect(withNewest(page("10", null), page("98", "7"))).toEqual(page("98", "7"));
  expect(withNewest(page("", null), page("1", null))).toEqual(page("1", null));
});
