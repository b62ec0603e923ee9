import type { AutomationTrigger } from "@convoke/protocol";
import { exactTime } from "../lib/shown-times.ts";
import type { MoreWords } from "../words/words.ts";
import { weekdayNames } from "./shown-due.ts";
import { fromTrigger } from "./start-choice.ts";

/** When an automation starts, in words. */
export function describeTrigger(
  trigger: AutomationTrigger,
  { describe, form }: MoreWords["automations"],
  language: string,
): string {
  if (trigger.kind === "webhook") return describe.webhook(form.senders[trigger.form]);
  if (trigger.kind === "event") {
    const changes = (trigger.statuses ?? []).map((status) => describe.changes[status]);
    const kinds = (trigger.event_kinds ?? []).map((kind) => describe.gets(kind));
    return describe.event([...changes, ...kinds].join(describe.or));
  }
  if (trigger.kind === "once") return describe.once(exactTime(trigger.at, language));
  const draft = fromTrigger(trigger, new Date(), "UTC");
  if (trigger.kind === "interval") return describe.interval(draft.every, form.units[draft.unit]);
  const names = weekdayNames(language);
  const days = [1, 2, 3, 4, 5, 6, 0].filter((day) => draft.weekdays.includes(day)).map((day) => names[day]);
  const text = {
    hourly: describe.hourly(draft.minute),
    daily: describe.daily(draft.time),
    weekly: describe.weekly(days.join(", "), draft.time),
    monthly: describe.monthly(draft.monthDay, draft.time),
  };
  return describe.zone(
    draft.choice in text ? text[draft.choice as keyof typeof text] : describe.cron(trigger.expression),
    draft.timeZone,
  );
}
