import type { Command } from "commander";
import { collectPages } from "../api/collect-pages.ts";
import { findAutomation, scheduleArgument } from "../api/find-automation.ts";
import { openApi, openRunningApi, withServer, type ApiOptions } from "../api/server-command.ts";
import { printJson } from "../print/json.ts";
import { printRuns, printSchedule, printSchedules, toScheduleLine } from "../print/schedule-lines.ts";
import { addSchedule as addAdd } from "./add-schedule.ts";
import { confirm } from "./confirm.ts";
import { parseCount } from "./parse-options.ts";
import { showSubcommands } from "./show-subcommands.ts";

type ListOptions = ApiOptions & { readonly limit: number };
type RmOptions = ApiOptions & { readonly yes?: true };
type NextOptions = ApiOptions & { readonly count: number };

export function addSchedule(program: Command): void {
  const schedule = program
    .command("schedule")
    .description("Let conversations start by themselves: at times, in intervals, once; with their history");
  addAdd(schedule);
  withServer(schedule.command("ls").description("List what starts by itself, the newest first"))
    .option("--limit <number>", "how many at most", parseCount, 100)
    .action(list);
  withId(schedule, "show", "Show one of them").action(show);
  withId(schedule, "pause", "Start nothing more; what has started goes on").action(pause);
  withId(schedule, "resume", "Start again at the next due time after now").action(resume);
  withId(schedule, "run", "Start a run now, also of a paused one").action(run);
  withId(schedule, "rm", "Delete one with its history; its conversations stay")
    .option("--yes", "do not ask")
    .action(rm);
  withId(schedule, "history", "List the runs of one, the newest first, with the reasons of those that failed")
    .option("--limit <number>", "how many at most", parseCount, 20)
    .action(history);
  withId(schedule, "next", "List the next due times")
    .option("--count <number>", "how many, at most 100", parseCount, 10)
    .action(next);
  showSubcommands(schedule);
}

const path = "/api/automations/{automation_id}";

function withId(schedule: Command, name: string, description: string): Command {
  return withServer(schedule.command(name).description(description).argument("<id>", scheduleArgument));
}

async function list(options: ListOptions): Promise<void> {
  await using opened = await openApi(options);
  const found = await collectPages(options.limit, (query) =>
    opened.client.call("GET /api/automations", { query }),
  );
  if (options.json === true) for (const each of found) printJson("schedule", toScheduleLine(each));
  else printSchedules(found);
}

async function show(given: string, options: ApiOptions): Promise<void> {
  await using opened = await openApi(options);
  printSchedule(await findAutomation(opened.client, given), options);
}

async function pause(given: string, options: ApiOptions): Promise<void> {
  await using opened = await openApi(options);
  const { id } = await findAutomation(opened.client, given);
  printSchedule(await opened.client.call(`POST ${path}/pause`, { params: { automation_id: id } }), options);
}

async function resume(given: string, options: ApiOptions): Promise<void> {
  await using opened = await openApi(options);
  const { id } = await findAutomation(opened.client, given);
  printSchedule(await opened.client.call(`POST ${path}/resume`, { params: { automation_id: id } }), options);
}

async function run(given: string, options: ApiOptions): Promise<void> {
  await using opened = await openRunningApi(options, "start the run");
  const { id } = await findAutomation(opened.client, given);
  const started = await opened.client.call(`POST ${path}/run`, { params: { automation_id: id }, body: {} });
  printRuns([started], options);
}

async function rm(given: string, options: RmOptions): Promise<void> {
  await using opened = await openApi(options);
  const automation = await findAutomation(opened.client, given);
  await confirm(
    {
      lines: [`${automation.id}  ${automation.name}`],
      question: "Delete it with its history?",
      purpose: "delete",
      refusal: "Nothing was deleted.",
    },
    options,
  );
  await opened.client.call(`DELETE ${path}`, { params: { automation_id: automation.id } });
  if (options.json === true) printJson("schedule_rm", { id: automation.id, deleted: true });
  else console.log(`Deleted ${automation.id}.`);
}

async function history(given: string, options: ListOptions): Promise<void> {
  await using opened = await openApi(options);
  const { id } = await findAutomation(opened.client, given);
  const found = await collectPages(options.limit, (query) =>
    opened.client.call(`GET ${path}/runs`, { params: { automation_id: id }, query }),
  );
  printRuns(found, options);
}

async function next(given: string, options: NextOptions): Promise<void> {
  await using opened = await openApi(options);
  const { id } = await findAutomation(opened.client, given);
  const query = { count: options.count };
  const { due_times: times } = await opened.client.call(`GET ${path}/due_times`, {
    params: { automation_id: id },
    query,
  });
  for (const due_at of times)
    if (options.json === true) printJson("schedule_next", { id, due_at });
    else console.log(due_at);
  if (times.length === 0 && options.json !== true) console.log("There is no next due time.");
}
