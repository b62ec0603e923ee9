import { expect, test } from "vitest";
import { boundedPayload } from "./bounded-payload.ts";

test("a body is inserted as it is, with the name of its event", () => {
  const body = { action: "opened", issue: { title: "x".repeat(10_000) } };
  expect(boundedPayload(body, "issues")).toEqual({ event_name: "issues", ...body });
  expect(boundedPayload({ event_name: "mine" }, "issues")).toEqual({ event_name: "mine" });
  expect(boundedPayload([1, 2], null)).toEqual({ body: [1, 2] });
  expect(boundedPayload("text", "a")).toEqual({ event_name: "a", body: "text" });
});

test("a large body is trimmed, and says where", () => {
  const body = {
    title: "short",
    diff: "d".repeat(400_000),
    commits: Array.from({ length: 200 }, (_, id) => ({ id, message: "m".repeat(5_000) })),
  };
  const payload = boundedPayload(body, "push");
  expect(JSON.stringify(payload).length).toBeLessThan(256 * 1024);
  expect(payload).toMatchObject({ event_name: "push", title: "short" });
  expect(payload["diff"]).toMatch(/^d+ \(396000 characters are left out\)$/);
  const commits = payload["commits"] as unknown[];
  expect(commits).toHaveLength(51);
  expect(commits.at(-1)).toBe("(150 more are left out)");
});

test("a body that stays large loses its inner levels", () => {
  const wide = (depth: number): unknown =>
    depth === 0
      ? "t".repeat(3_000)
      : Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`f${at}`, wide(depth - 1)]));
  const leftOut = "(left out: it is nested too deeply)";
  const payload = boundedPayload({ title: "short", deep: wide(3) }, null);
  expect(JSON.stringify(payload).length).toBeLessThan(256 * 1024);
  expect(payload).toMatchObject({ title: "short", deep: { f0: { f0: leftOut } } });
});

test("lists of long texts stay within the limit", () => {
  const body = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [`f${at}`, Array.from({ length: 20 }, () => "x".repeat(4_000))]),
  );
  expect(JSON.stringify(boundedPayload(body, null)).length).toBeLessThan(256 * 1024);
});
