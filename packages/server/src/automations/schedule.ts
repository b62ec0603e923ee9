import type { AutomationTrigger, CronTrigger } from "@convoke/protocol";
import { Cron } from "croner";

/** The due times of a trigger. Times are epoch milliseconds; they depend on the trigger alone, so no timer can drift. */
export interface Schedule {
  /** The first due time after this moment; null: there is none. */
  next(afterMs: number): number | null;
  /** The due times from `firstMs`, which is one, up to `throughMs`. */
  passed(firstMs: number, throughMs: number, newest: number): PassedTimes;
}

export type PassedTimes = {
  /** At most {@link maxCounted}. */
  readonly count: number;
  /** As many of them as were asked for, ascending. */
  readonly newest: readonly number[];
};

/** Counting further due times of a cron expression would hold up the process. */
export const maxCounted = 1_000;

/** Without due times: webhooks, events. */
const noSchedule: Schedule = { next: () => null, passed: () => ({ count: 0, newest: [] }) };

/** The trigger is one that was stored, so an interval has its first due time. */
export function createSchedule(trigger: AutomationTrigger): Schedule {
  switch (trigger.kind) {
    case "cron":
      return cronSchedule(trigger);
    case "interval":
      return intervalSchedule(Date.parse(trigger.starts_at ?? ""), trigger.every_seconds * 1_000);
    case "once":
      return onceSchedule(Date.parse(trigger.at));
    case "webhook":
    case "event":
      return noSchedule;
  }
}

/** The next due times after this moment, in RFC 3339. */
export function nextDueTimes(trigger: AutomationTrigger, afterMs: number, count: number): string[] {
  const schedule = createSchedule(trigger);
  const times: string[] = [];
  for (let at = schedule.next(afterMs); at !== null && times.length < count; at = schedule.next(at))
    times.push(new Date(at).toISOString());
  return times;
}

/** Throws an error of the library for an expression or a time zone that it cannot read. */
export function openCron({ expression, time_zone: timezone = "UTC" }: CronTrigger): Cron {
  return new Cron(expression, { timezone, mode: "5-part", paused: true });
}

function cronSchedule(trigger: CronTrigger): Schedule {
  const cron = openCron(trigger);
  const next = (afterMs: number): number | null => cron.nextRun(new Date(afterMs))?.getTime() ?? null;
  return {
    next,
    passed(firstMs, throughMs, newest) {
      const times: number[] = [];
      for (let at: number | null = firstMs; at !== null && at <= throughMs; at = next(at)) {
        if (times.length === maxCounted)
          return { count: maxCounted, newest: newestOf(cron, throughMs, newest) };
        times.push(at);
      }
      return { count: times.length, newest: newest === 0 ? [] : times.slice(-newest) };
    },
  };
}

function newestOf(cron: Cron, throughMs: number, newest: number): number[] {
  const runs = newest === 0 ? [] : cron.previousRuns(newest, new Date(throughMs + 1));
  return runs.map((run) => run.getTime()).sort((one, other) => one - other);
}

function intervalSchedule(startMs: number, everyMs: number): Schedule {
  return {
    next: (afterMs) =>
      afterMs < startMs ? startMs : startMs + (Math.floor((afterMs - startMs) / everyMs) + 1) * everyMs,
    passed(firstMs, throughMs, newest) {
      if (throughMs < firstMs) return { count: 0, newest: [] };
      const all = Math.floor((throughMs - firstMs) / everyMs) + 1;
      const listed = Math.min(all, newest);
      const from = firstMs + (all - listed) * everyMs;
      return {
        count: Math.min(all, maxCounted),
        newest: Array.from({ length: listed }, (_, index) => from + index * everyMs),
      };
    },
  };
}

function onceSchedule(atMs: number): Schedule {
  return {
    next: (afterMs) => (afterMs < atMs ? atMs : null),
    passed: (firstMs, throughMs, newest) =>
      firstMs > throughMs ? { count: 0, newest: [] } : { count: 1, newest: newest === 0 ? [] : [firstMs] },
  };
}
