import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { AutomationConversation, AutomationTrigger, CreateAutomationRequest } from "@convoke/protocol";
import { Option, type Command } from "commander";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";
import { describeUnreadable } from "../describe-unreadable.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { printSchedule } from "../print/schedule-lines.ts";
import { parseAmount, parseCount, parseDuration, parseTag } from "./parse-options.ts";

type AddOptions = ApiOptions & {
  readonly cron?: string;
  readonly timeZone?: string;
  readonly every?: number;
  readonly startsAt?: string;
  readonly at?: string;
  readonly prompt?: string;
  readonly promptFile?: string;
  readonly folder?: string;
  readonly repository?: string;
  readonly ref?: string;
  readonly worktree?: true;
  readonly profile?: string;
  readonly model?: string;
  readonly network?: "none" | "registries" | "all";
  readonly maxBudget?: number;
  readonly maxIterations?: number;
  readonly maxTime?: number;
  readonly tag?: Readonly<Record<string, string>>;
  readonly onAsk: "reject" | "wait";
  readonly askTimeout?: number;
  readonly overlap: "skip" | "queue" | "replace";
  readonly maxQueued?: number;
  readonly catchUp?: number;
  readonly catchUpAge?: number;
  readonly paused?: true;
};

/** `convoke schedule add`. What is wrong with a value, the server says by its field. */
export function addSchedule(schedule: Command): void {
  withServer(
    schedule
      .command("add")
      .description("Create one; exactly one of --cron, --every and --at says when it starts")
      .argument("<name>", "what it is called")
      .option("--cron <expression>", 'minute, hour, day of month, month, day of week: "0 9 * * MON-FRI"')
      .option("--time-zone <name>", "of --cron, e.g. Europe/Berlin (default: that of this machine)")
      .option("--every <duration>", "an interval of at least a minute: 90s, 30m, 6h, 2d", parseDuration)
      .option("--starts-at <time>", "the first due time of --every, e.g. 2027-01-31T09:00:00Z")
      .option("--at <time>", "once, e.g. 2027-01-31T09:00:00Z")
      .option("--prompt <text>", "the first message, with variables such as {{due_time}}")
      .option("--prompt-file <file>", "a file with the first message")
      .option("--folder <directory>", "where its conversations work (default: a new folder for each)")
      .option("--repository <url>", "a Git repository that the agent clones into a new folder")
      .option("--ref <name>", "branch, tag or commit of --repository")
      .option("--worktree", "work in a Git worktree of the repository of --folder")
      .option("--profile <id>", "agent profile")
      .option("--model <name>", "stored model profile")
      .addOption(
        new Option("--network <policy>", "network of the wall").choices(["none", "registries", "all"]),
      )
      .option("--max-budget <dollars>", "max cost of one conversation", parseAmount)
      .option("--max-iterations <number>", "max model calls of one run", parseCount)
      .option("--max-time <duration>", "max time of one run: 30m, 2h", parseDuration)
      .option("--tag <name=value>", "a tag of its conversations (repeatable)", parseTag)
      .addOption(
        new Option("--on-ask <answer>", "what happens to actions that need an approval")
          .choices(["reject", "wait"])
          .default("reject"),
      )
      .option(
        "--ask-timeout <duration>",
        "with --on-ask wait: when they are rejected (default 1h)",
        parseDuration,
      )
      .addOption(
        new Option("--overlap <mode>", "what happens while an earlier run is active")
          .choices(["skip", "queue", "replace"])
          .default("skip"),
      )
      .option("--max-queued <number>", "with --overlap queue: how many may wait (default 1)", parseCount)
      .option(
        "--catch-up <number>",
        "how many missed due times start after a time without a server (default 1)",
        (text) => (text === "0" ? 0 : parseCount(text)),
      )
      .option("--catch-up-age <duration>", "older ones are skipped (default 1d)", parseDuration)
      .option("--paused", "do not start it yet"),
  ).action(add);
}

async function add(name: string, options: AddOptions): Promise<void> {
  const body = await toRequest(name, options);
  await using opened = await openApi(options);
  const { hook_secret: _, ...made } = await opened.client.call("POST /api/automations", { body });
  printSchedule(made, options);
}

async function toRequest(name: string, options: AddOptions): Promise<CreateAutomationRequest> {
  const { onAsk, askTimeout, overlap, maxQueued, catchUp, catchUpAge, paused } = options;
  return {
    name,
    trigger: toTrigger(options),
    prompt: await readPrompt(options),
    conversation: toConversation(options),
    approvals: { on_ask: onAsk, ...field("timeout_seconds", askTimeout) },
    overlap: { mode: overlap, ...field("max_queued", maxQueued) },
    catch_up: { ...field("max_runs", catchUp), ...field("max_age_seconds", catchUpAge) },
    is_paused: paused === true,
  };
}

function toTrigger({ cron, timeZone, every, startsAt, at }: AddOptions): AutomationTrigger {
  const given = [cron, every, at].filter((value) => value !== undefined);
  if (given.length !== 1) throw usage("Give exactly one of --cron, --every and --at.");
  if (timeZone !== undefined && cron === undefined) throw usage("--time-zone belongs to --cron.");
  if (startsAt !== undefined && every === undefined) throw usage("--starts-at belongs to --every.");
  if (cron !== undefined) {
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
    return { kind: "cron", expression: cron, time_zone: timeZone ?? own };
  }
  if (every !== undefined) return { kind: "interval", every_seconds: every, ...field("starts_at", startsAt) };
  return { kind: "once", at: at! };
}

async function readPrompt({ prompt, promptFile }: AddOptions): Promise<string> {
  if ((prompt === undefined) === (promptFile === undefined))
    throw usage("Give either --prompt or --prompt-file.");
  if (promptFile === undefined) return prompt!;
  try {
    return await readFile(promptFile, "utf8");
  } catch (error) {
    throw usage(`--prompt-file: ${describeUnreadable(promptFile, error)}`);
  }
}

function toConversation(options: AddOptions): AutomationConversation {
  const { folder, repository, ref, network, tag = {} } = options;
  if (ref !== undefined && repository === undefined) throw usage("--ref belongs to --repository.");
  return {
    ...field("working_dir", folder === undefined ? undefined : resolve(folder)),
    ...(repository === undefined ? {} : { repository: { url: repository, ...field("ref", ref) } }),
    ...field("worktree", options.worktree),
    ...field("agent_profile_id", options.profile),
    ...field("llm_profile", options.model),
    ...(network === undefined ? {} : { wall: { network } }),
    ...field("max_budget_per_task", options.maxBudget),
    ...field("max_iterations", options.maxIterations),
    ...field("max_run_seconds", options.maxTime),
    ...(Object.keys(tag).length === 0 ? {} : { tags: tag }),
  };
}

function field<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [N in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [N in Name]?: Value });
}

function usage(message: string): CommandError {
  return new CommandError(message, exitCodes.usage);
}
