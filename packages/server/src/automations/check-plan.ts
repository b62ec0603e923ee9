import type { AutomationTrigger } from "@convoke/protocol";
import { invalidField } from "../lib/fault.ts";
import type { AutomationPlan } from "./automation.ts";
import { unknownVariables } from "./prompt-variables.ts";
import { createSchedule, openCron } from "./schedule.ts";

type Loc = readonly (string | number)[];

/** The trigger with everything in it that its due times depend on. Throws a Fault that names the field. */
export function checkTrigger(trigger: AutomationTrigger, nowMs: number, loc: Loc): AutomationTrigger {
  switch (trigger.kind) {
    case "cron":
      return checkCron(trigger, nowMs, loc);
    case "interval": {
      if (Number.isNaN(Date.parse(trigger.starts_at ?? noTime)))
        throw invalidField([...loc, "starts_at"], "There is no such moment.");
      const starts_at = trigger.starts_at ?? new Date(nowMs + trigger.every_seconds * 1_000).toISOString();
      return { ...trigger, starts_at };
    }
    case "once":
      if (createSchedule(trigger).next(nowMs) === null)
        throw invalidField([...loc, "at"], "This moment has passed. Send one in the future.");
      return trigger;
    case "webhook":
      checkHeaders(trigger, loc);
      return trigger;
    case "event":
      if ((trigger.statuses ?? []).length === 0 && (trigger.event_kinds ?? []).length === 0)
        throw invalidField([...loc, "statuses"], "Choose at least one status, or name a kind of event.");
      return trigger;
  }
}

const noTime = "2000-01-01T00:00:00Z";

const headerFields = ["signature_header", "timestamp_header", "id_header", "event_header"] as const;

function checkHeaders(trigger: Extract<AutomationTrigger, { kind: "webhook" }>, loc: Loc): void {
  if (trigger.form === "hmac") return;
  const given = headerFields.find((field) => typeof trigger[field] === "string");
  if (given !== undefined)
    throw invalidField(
      [...loc, given],
      `The form ${trigger.form} has headers of its own. Leave this field out.`,
    );
}

function checkCron(
  trigger: Extract<AutomationTrigger, { kind: "cron" }>,
  nowMs: number,
  loc: Loc,
): AutomationTrigger {
  const { time_zone: timeZone = "UTC" } = trigger;
  if (!isTimeZone(timeZone))
    throw invalidField(
      [...loc, "time_zone"],
      "There is no such time zone. Send an IANA name, e.g. Europe/Berlin.",
    );
  if (trigger.expression.trim().startsWith("@")) throw invalidField([...loc, "expression"], fiveFields);
  let next: Date | null;
  try {
    next = openCron(trigger).nextRun(new Date(nowMs));
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern: /, "") : String(error);
    throw invalidField([...loc, "expression"], `${fiveFields} ${reason}`);
  }
  if (next === null)
    throw invalidField([...loc, "expression"], "This never comes, e.g. because no month has such a day.");
  return { ...trigger, time_zone: timeZone };
}

const fiveFields = "Send five fields: minute, hour, day of month, month, day of week.";

function isTimeZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat("en", { timeZone: name }) !== null;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Throws a Fault that names the field. */
export function checkPlan({ prompt, trigger, conversation }: AutomationPlan): void {
  const [unknown] = unknownVariables(prompt, hasPayload(trigger));
  if (unknown !== undefined) throw invalidField(["body", "prompt"], unknown);
  const { working_dir: folder = null, repository = null, worktree, agent_profile_id: profile } = conversation;
  if (folder !== null && repository !== null)
    throw invalidField(
      ["body", "conversation", "repository"],
      "Send either working_dir or repository, not both.",
    );
  if (worktree === true && folder === null)
    throw invalidField(
      ["body", "conversation", "worktree"],
      "This needs a working_dir with a Git repository.",
    );
  if (typeof profile === "string" && typeof conversation.llm_profile === "string")
    throw invalidField(
      ["body", "conversation", "llm_profile"],
      "The agent profile has a model of its own. Leave one of the two out.",
    );
}

export function hasPayload({ kind }: AutomationTrigger): boolean {
  return kind === "webhook" || kind === "event";
}
