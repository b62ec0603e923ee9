import type { Automation, AutomationRun, AutomationTrigger } from "@convoke/protocol";
import type { JsonLine } from "../json-shapes.ts";
import { printJson } from "./json.ts";
import { printable } from "./printable.ts";
import { printTable } from "./table.ts";

type Printing = { readonly json?: true };

/** Long enough to be found again, see `findAutomation`. */
const endLength = 8;

export function toScheduleLine({
  id,
  name,
  is_paused,
  trigger,
  prompt,
  next_due_at,
}: Automation): JsonLine<"schedule"> {
  return { id, name, is_paused, trigger: { ...trigger }, prompt, next_due_at };
}

export function printSchedule(automation: Automation, { json }: Printing): void {
  if (json === true) return printJson("schedule", toScheduleLine(automation));
  const { id, name, trigger, prompt, is_paused: isPaused, next_due_at: nextDueAt } = automation;
  const next = isPaused ? "paused" : (nextDueAt ?? "no next due time");
  const lines = [id, `  name    ${name}`, `  when    ${describeTrigger(trigger)}`, `  next    ${next}`];
  console.log(printable([...lines, `  prompt  ${prompt}`].join("\n")));
}

export function printSchedules(automations: readonly Automation[]): void {
  if (automations.length === 0)
    return console.log("Nothing starts by itself. See convoke schedule add --help.");
  const rows = automations.map(({ id, name, trigger, is_paused: isPaused, next_due_at: nextDueAt }) => [
    id.slice(-endLength),
    isPaused ? "paused" : (nextDueAt ?? "none"),
    describeTrigger(trigger),
    name,
  ]);
  printTable(
    [{ heading: "ID" }, { heading: "NEXT" }, { heading: "WHEN" }, { heading: "NAME", isCut: true }],
    rows,
  );
}

export function printRuns(runs: readonly AutomationRun[], { json }: Printing): void {
  if (json === true) {
    for (const run of runs) printJson("schedule_run", { ...run });
    return;
  }
  if (runs.length === 0) return console.log("There are no runs yet.");
  const rows = runs.map(({ due_at: dueAt, count, state, origin, conversation_id: conversation, reason }) => [
    dueAt,
    count === 1 ? state : `${state} (${count})`,
    origin,
    conversation ?? "",
    reason ?? "",
  ]);
  const headings = ["DUE", "STATE", "ORIGIN", "CONVERSATION"].map((heading) => ({ heading }));
  printTable([...headings, { heading: "REASON", isCut: true }], rows);
}

function describeTrigger(trigger: AutomationTrigger): string {
  switch (trigger.kind) {
    case "cron":
      return `${trigger.expression} (${trigger.time_zone ?? "UTC"})`;
    case "interval":
      return `every ${describeSeconds(trigger.every_seconds)}`;
    case "once":
      return `once at ${trigger.at}`;
    case "webhook":
      return `webhook (${trigger.form})`;
    case "event":
      return `conversations: ${[...(trigger.statuses ?? []), ...(trigger.event_kinds ?? [])].join(", ")}`;
  }
}

function describeSeconds(seconds: number): string {
  const [size, unit] = units.find(([size]) => seconds % size === 0)!;
  return `${seconds / size}${unit}`;
}

const units = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
  [1, "s"],
] as const;
