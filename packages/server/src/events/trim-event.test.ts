import fc from "fast-check";
import { expect, test } from "vitest";
import { trimEvent } from "./trim-event.ts";
import { TrimmedEvents } from "./trimmed-events.ts";

const limit = 1_024;
const head = {
  id: "0198a000-0000-7000-8000-000000000001",
  timestamp: "2026-01-01T00:00:00.000000Z",
  source: "agent",
};
const trimmed = (fields: object) =>
  JSON.parse(trimEvent(JSON.stringify({ ...head, ...fields }), limit)) as {
    kind: string;
    size: number;
    event: Record<string, unknown> & { observation: Record<string, unknown> };
    cut: { at: string; length: number }[];
  };

test("an event of four times the limit stays as it is stored, byte for byte", () => {
  const json = `{"id":"x",  "text":"${"y".repeat(4 * limit - 22)}"}`;
  expect(json).toHaveLength(4 * limit);
  expect(trimEvent(json, limit)).toBe(json);
});

test("long texts end, and it is said where and how long they were", () => {
  const text = "a".repeat(limit - 1) + "😀".repeat(5_000);
  const { kind, size, event, cut } = trimmed({
    llm_message: { role: "user", content: [{ type: "text", text }] },
    kind: "MessageEvent",
  });
  expect(kind).toBe("TrimmedEvent");
  expect(size).toBeGreaterThan(10_000);
  expect(event).toEqual({
    ...head,
    llm_message: { role: "user", content: [{ type: "text", text: "a".repeat(limit - 1) }] },
    kind: "MessageEvent",
  });
  expect(cut).toEqual([{ at: "/llm_message/content/0/text", length: text.length }]);
});

test("of a picture its type is shown, of a condensation the number of forgotten events", () => {
  const picture = `data:image/png;base64,${"A".repeat(20_000)}`;
  const shown = trimmed({ observation: { kind: "X", image_urls: [picture] }, kind: "ObservationEvent" });
  expect(shown.event.observation.image_urls).toEqual(["data:image/png;base64,"]);
  expect(shown.cut).toEqual([{ at: "/observation/image_urls/0", length: picture.length }]);
  const ids = Array.from({ length: 200 }, (_, index) => `${head.id}${index}`);
  const condensation = trimmed({ forgotten_event_ids: ids, kind: "Condensation" });
  expect(condensation.event.forgotten_event_ids).toEqual([]);
  expect(condensation.cut).toEqual([{ at: "/forgotten_event_ids", length: 200 }]);
});

test("an edit brings its difference in the place of both texts", () => {
  const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index}`);
  const before = lines.join("\n");
  const after = before.replace("line 2500\n", "line 2500, changed\n");
  const { event, cut } = trimmed({
    observation: { kind: "FileEditorObservation", path: "/w/a.txt", old_content: before, new_content: after },
    kind: "ObservationEvent",
  });
  expect(event.observation).toMatchObject({ old_content: null, new_content: null });
  expect(event.observation.patch).toContain("@@ -2498,7 +2498,7 @@");
  expect(event.observation.patch).toContain("-line 2500\n+line 2500, changed\n");
  expect(cut.map(({ at, length }) => [at, length])).toEqual([
    ["/observation/old_content", before.length],
    ["/observation/new_content", after.length],
  ]);
});

test("whatever an event holds, it becomes short, and keeps its kind", () => {
  const anything = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 }), { maxKeys: 20 });
  fc.assert(
    fc.property(anything, fc.integer({ min: 1, max: 300 }), (fields, copies) => {
      const many = { items: Array.from({ length: copies }, () => fields), filler: "f".repeat(5_000) };
      const shown = trimEvent(JSON.stringify({ ...head, ...many, kind: "Other" }), limit);
      expect(shown.length).toBeLessThan(limit * 16 * 8);
      expect((JSON.parse(shown) as { event: { kind: string } }).event.kind).toBe("Other");
    }),
    { numRuns: 100 },
  );
});

test("what was trimmed is kept, within bounds", () => {
  const events = new TrimmedEvents(3_000);
  const json = (index: number): string =>
    JSON.stringify({ ...head, id: head.id.slice(0, -1) + index, text: "t".repeat(10_000), kind: "Other" });
  const first = events.shown(json(1), limit);
  expect(events.shown(json(1), limit)).toBe(first);
  expect(events.shown(json(1), null)).toBe(json(1));
  for (const index of [2, 3, 4]) events.shown(json(index), limit);
  expect(events.shown(json(1), limit)).toEqual(first);
});
