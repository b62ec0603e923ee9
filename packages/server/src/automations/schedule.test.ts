import { describe, expect, test } from "vitest";
import { createSchedule, maxCounted, nextDueTimes } from "./schedule.ts";

const cron = (expression: string, time_zone = "Europe/Berlin") =>
  ({ kind: "cron", expression, time_zone }) as const;

describe("cron over the changes of a time zone's clock", () => {
  test.each([
    [
      "a local time that does not exist starts when the gap ends",
      cron("30 2 * * *"),
      "2026-03-28T02:00:00Z",
      ["2026-03-29T01:00:00.000Z", "2026-03-30T00:30:00.000Z"],
    ],
    [
      "a local time that occurs twice starts once, the first time",
      cron("30 2 * * *"),
      "2026-10-24T12:00:00Z",
      ["2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z"],
    ],
    [
      "every hour: the repeated hour starts twice",
      cron("0 * * * *"),
      "2026-10-24T23:30:00Z",
      ["2026-10-25T00:00:00.000Z", "2026-10-25T01:00:00.000Z"],
    ],
    [
      "every half hour: the missing hour is left out",
      cron("*/30 * * * *"),
      "2026-03-29T00:10:00Z",
      ["2026-03-29T00:30:00.000Z", "2026-03-29T01:00:00.000Z", "2026-03-29T01:30:00.000Z"],
    ],
    [
      "midnight that does not exist",
      cron("0 0 * * *", "America/Sao_Paulo"),
      "2018-11-03T12:00:00Z",
      ["2018-11-04T03:00:00.000Z", "2018-11-05T02:00:00.000Z"],
    ],
    [
      "a zone with half hours",
      cron("0 9 * * MON-FRI", "Asia/Kolkata"),
      "2026-11-27T00:00:00Z",
      ["2026-11-27T03:30:00.000Z", "2026-11-30T03:30:00.000Z"],
    ],
  ])("%s", (_, trigger, after, times) => {
    expect(nextDueTimes(trigger, Date.parse(after), times.length)).toEqual(times);
  });
});

test("an interval counts from its first due time, whenever it is asked", () => {
  const startMs = Date.parse("2026-01-01T00:00:00Z");
  const schedule = createSchedule({
    kind: "interval",
    every_seconds: 90,
    starts_at: "2026-01-01T00:00:00Z",
  });
  expect(schedule.next(startMs - 1)).toBe(startMs);
  expect(schedule.next(startMs)).toBe(startMs + 90_000);
  expect(schedule.next(startMs + 89_999)).toBe(startMs + 90_000);
  expect(schedule.next(startMs + 123_456_789)! % 90_000).toBe(startMs % 90_000);
  expect(schedule.passed(startMs, startMs + 200_000, 2)).toEqual({
    count: 3,
    newest: [startMs + 90_000, startMs + 180_000],
  });
  expect(schedule.passed(startMs, startMs - 1, 2)).toEqual({ count: 0, newest: [] });
  expect(schedule.passed(startMs, startMs + 90_000 * 1e9, 1).count).toBe(maxCounted);
});

test("a single due time comes once", () => {
  const schedule = createSchedule({ kind: "once", at: "2026-01-01T00:00:00Z" });
  const atMs = Date.parse("2026-01-01T00:00:00Z");
  expect([schedule.next(atMs - 1), schedule.next(atMs)]).toEqual([atMs, null]);
  expect(schedule.passed(atMs, atMs + 5, 3)).toEqual({ count: 1, newest: [atMs] });
});

test("of many passed due times of a cron expression the newest are known", () => {
  const first = Date.parse("2026-01-01T00:00:00Z");
  const through = Date.parse("2026-02-01T00:00:30Z");
  const { count, newest } = createSchedule(cron("* * * * *", "UTC")).passed(first, through, 2);
  expect(count).toBe(maxCounted);
  expect(newest).toEqual([Date.parse("2026-01-31T23:59:00Z"), Date.parse("2026-02-01T00:00:00Z")]);
});
