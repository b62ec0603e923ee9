import type { AutomationTrigger, EventTrigger } from "@convoke/protocol";
import { fromWebhook, newWebhook, toWebhook, type WebhookDraft } from "./webhook-draft.ts";

/** What the form offers: plain schedules first, then everything that a cron expression can say, then the triggers. */
export const scheduleChoices = ["hourly", "daily", "weekly", "monthly", "interval", "once", "cron"] as const;
export const startChoices = [...scheduleChoices, "webhook", "event"] as const;
export type StartChoice = (typeof startChoices)[number];

export const intervalUnits = { minutes: 60, hours: 3_600, days: 86_400 } as const;
export type IntervalUnit = keyof typeof intervalUnits;

/** The fields of the form as texts; those of the other choices stay as they were entered. */
export type StartDraft = {
  readonly choice: StartChoice;
  /** Of an hour, 0 to 59. */
  readonly minute: string;
  /** `HH:MM`. */
  readonly time: string;
  /** 0 is Sunday. */
  readonly weekdays: readonly number[];
  readonly monthDay: string;
  readonly every: string;
  readonly unit: IntervalUnit;
  /** As `datetime-local` has it, in the browser's time zone. */
  readonly onceAt: string;
  readonly expression: string;
  readonly timeZone: string;
  readonly webhook: WebhookDraft;
  readonly event: EventTrigger;
};

const workdays: readonly number[] = [1, 2, 3, 4, 5];

/** Every workday at nine; the single time is the next full hour. */
export function newStart(now: Date, timeZone: string): StartDraft {
  return {
    choice: "daily",
    minute: "0",
    time: "09:00",
    weekdays: workdays,
    monthDay: "1",
    every: "30",
    unit: "minutes",
    onceAt: toLocalText(new Date(Math.ceil((now.getTime() + 1) / 3_600_000) * 3_600_000)),
    expression: "0 9 * * MON-FRI",
    timeZone,
    webhook: newWebhook,
    event: { kind: "event", statuses: ["finished"] },
  };
}

/** The trigger of the wire. Throws nothing: what is wrong with it, the server says by field. */
export function toTrigger(draft: StartDraft): AutomationTrigger {
  const { choice, time, timeZone } = draft;
  const [hour = "", minute = ""] = time.split(":").map((part) => String(Number(part)));
  const cron = (expression: string): AutomationTrigger => ({ kind: "cron", expression, time_zone: timeZone });
  switch (choice) {
    case "hourly":
      return cron(`${draft.minute.trim()} * * * *`);
    case "daily":
      return cron(`${minute} ${hour} * * *`);
    case "weekly":
      return cron(`${minute} ${hour} * * ${draft.weekdays.toSorted(byNumber).join(",") || "*"}`);
    case "monthly":
      return cron(`${minute} ${hour} ${draft.monthDay.trim()} * *`);
    case "cron":
      return cron(draft.expression.trim());
    case "interval":
      return { kind: "interval", every_seconds: Math.round(Number(draft.every) * intervalUnits[draft.unit]) };
    case "once": {
      const at = new Date(draft.onceAt);
      return { kind: "once", at: Number.isNaN(at.getTime()) ? draft.onceAt : at.toISOString() };
    }
    case "webhook":
      return toWebhook(draft.webhook);
    case "event":
      return draft.event;
  }
}

/** The fields for a stored trigger: the plain choice where it says the same, otherwise the raw expression. */
export function fromTrigger(trigger: AutomationTrigger, now: Date, timeZone: string): StartDraft {
  const draft = newStart(now, timeZone);
  switch (trigger.kind) {
    case "cron":
      return fromCron({ ...draft, timeZone: trigger.time_zone ?? "UTC" }, trigger.expression);
    case "interval":
      return { ...draft, choice: "interval", ...intervalOf(trigger.every_seconds) };
    case "once":
      return { ...draft, choice: "once", onceAt: toLocalText(new Date(trigger.at)) };
    case "webhook":
      return { ...draft, choice: "webhook", webhook: fromWebhook(trigger) };
    case "event":
      return { ...draft, choice: "event", event: trigger };
  }
}

/** Seconds in the largest unit that has a whole number of them. */
function intervalOf(seconds: number): { readonly every: string; readonly unit: IntervalUnit } {
  const unit = (["days", "hours"] as const).find((name) => seconds % intervalUnits[name] === 0) ?? "minutes";
  return { every: String(seconds / intervalUnits[unit]), unit };
}

function fromCron(draft: StartDraft, expression: string): StartDraft {
  const raw: StartDraft = { ...draft, choice: "cron", expression };
  const [minute = "", hour = "", day = "", month, weekday = "", ...more] = expression.trim().split(/\s+/);
  if (more.length > 0 || month !== "*" || !isNumber(minute, 0, 59)) return raw;
  if (hour === "*" && day === "*" && weekday === "*") return { ...raw, choice: "hourly", minute };
  if (!isNumber(hour, 0, 23)) return raw;
  const timed = { ...raw, time: `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}` };
  if (day === "*" && weekday === "*") return { ...timed, choice: "daily" };
  const weekdays = weekdaysOf(weekday);
  if (day === "*" && weekdays !== null) return { ...timed, choice: "weekly", weekdays };
  if (weekday === "*" && isNumber(day, 1, 31)) return { ...timed, choice: "monthly", monthDay: day };
  return raw;
}

const weekdayNames = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/** Single days and ranges of them, by number or name; null for anything else. */
function weekdaysOf(field: string): readonly number[] | null {
  const days = new Set<number>();
  for (const part of field.toUpperCase().split(",")) {
    const [from, to = from, ...more] = part.split("-").map(weekdayOf);
    if (from === undefined || to === undefined || more.length > 0 || from < 0 || to < from) return null;
    for (let day = from; day <= to; day += 1) days.add(day % 7);
  }
  return [...days].toSorted(byNumber);
}

function byNumber(one: number, other: number): number {
  return one - other;
}

function weekdayOf(text: string): number {
  if (/^[0-7]$/.test(text)) return Number(text);
  return weekdayNames.indexOf(text);
}

function isNumber(text: string, min: number, max: number): boolean {
  return /^\d{1,2}$/.test(text) && Number(text) >= min && Number(text) <= max;
}

/** `YYYY-MM-DDTHH:MM` in the browser's time zone, as `datetime-local` wants it. */
function toLocalText(date: Date): string {
  const two = (number: number): string => String(number).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}
