import { describe, expect, test } from "vitest";
import { fromTrigger, newStart, toTrigger, type StartDraft } from "./start-choice.ts";

const now = new Date(2026, 10, 28, 9, 30);
const zone = "Europe/Berlin";
const draft = newStart(now, zone);

test("a new automation begins with a day's work at nine; its single time is the next full hour", () => {
  expect(toTrigger(draft)).toEqual({ kind: "cron", expression: "0 9 * * *", time_zone: zone });
  expect(draft.onceAt).toBe("2026-11-28T10:00");
});

describe("plain choices and their expressions", () => {
  const cases: readonly (readonly [Partial<StartDraft>, string])[] = [
    [{ choice: "hourly", minute: "5" }, "5 * * * *"],
    [{ choice: "daily", time: "07:05" }, "5 7 * * *"],
    [{ choice: "weekly", time: "23:59", weekdays: [5, 1] }, "59 23 * * 1,5"],
    [{ choice: "monthly", time: "00:00", monthDay: "31" }, "0 0 31 * *"],
    [{ choice: "cron", expression: "*/5 8-18 * 1,7 *" }, "*/5 8-18 * 1,7 *"],
  ];
  test.each(cases)("%o is %s, and is read back", (more, expression) => {
    const trigger = toTrigger({ ...draft, ...more });
    expect(trigger).toEqual({ kind: "cron", expression, time_zone: zone });
    const read = fromTrigger(trigger, now, "UTC");
    expect(read).toMatchObject({ choice: more.choice, timeZone: zone });
    expect(toTrigger(read)).toEqual(trigger);
  });
});

test.each([
  ["0 9 * * MON-FRI", [1, 2, 3, 4, 5]],
  ["0 9 * * sat,SUN", [0, 6]],
  ["0 9 * * 5-7", [0, 5, 6]],
  ["0 9 * * 7", [0]],
])("the days of %s are %o", (expression, weekdays) => {
  const read = fromTrigger({ kind: "cron", expression, time_zone: zone }, now, zone);
  expect(read).toMatchObject({ choice: "weekly", weekdays });
});

test.each([
  "0 9 1 * 1",
  "0 9 * * MON#1",
  "0 9 * * 5-2",
  "0 9 * 1 *",
  "0 9-17 * * *",
  "0 9 L * *",
  "0 0 9 * * *",
  "61 9 * * *",
  "@daily",
])("%s stays an expression", (expression) => {
  const read = fromTrigger({ kind: "cron", expression, time_zone: zone }, now, zone);
  expect(read).toMatchObject({ choice: "cron", expression });
});

test("an interval is shown in the largest whole unit", () => {
  const read = (seconds: number) => fromTrigger({ kind: "interval", every_seconds: seconds }, now, zone);
  expect(read(172_800)).toMatchObject({ choice: "interval", every: "2", unit: "days" });
  expect(read(5_400)).toMatchObject({ every: "90", unit: "minutes" });
  expect(toTrigger(read(7_200))).toEqual({ kind: "interval", every_seconds: 7_200 });
});

test("a single time is entered in the browser's zone, and sent in UTC", () => {
  const at = new Date(2026, 11, 24, 18, 0).toISOString();
  const read = fromTrigger({ kind: "once", at }, now, zone);
  expect(read.onceAt).toBe("2026-12-24T18:00");
  expect(toTrigger(read)).toEqual({ kind: "once", at });
  expect(toTrigger({ ...read, onceAt: "" })).toEqual({ kind: "once", at: "" });
});
