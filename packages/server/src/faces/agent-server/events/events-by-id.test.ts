import { expect, test } from "vitest";
import { readEventsById } from "./events-by-id.ts";

/** One text for all, so that many large events cost nothing here. */
const json = JSON.stringify({ detail: "x".repeat(50_000_000) });
const reads: string[] = [];
const journal = {
  getEvents: async (_id: string, ids: readonly string[]) => {
    reads.push(...ids);
    return ids.map((id) => (id === "missing" ? null : { seq: 1, id, json, meta: null }));
  },
};

test("P29: events by id are as many as one reply can hold; more are a 413 that names the limit, and are not read", async () => {
  const text = await readEventsById(journal, "c", ["a", "missing", "b"]);
  expect(text === `[${json},null,${json}]`).toBe(true);
  reads.length = 0;
  const many = Array.from({ length: 1_000 }, () => "a");
  await expect(readEventsById(journal, "c", many)).rejects.toMatchObject({
    kind: "too-large",
    code: "reply_too_large",
    message: expect.stringContaining("256 Mi characters"),
  });
  expect(reads).toHaveLength(6);
});
