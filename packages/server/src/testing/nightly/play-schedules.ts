import { setTimeout as sleep } from "node:timers/promises";
import type { AutomationRun, AutomationTrigger } from "@convoke/protocol";
import { createSchedule } from "../../automations/schedule.ts";
import type { Random } from "../random.ts";
import type { ScheduleRig } from "./schedule-rig.ts";

export type SchedulePlay = {
  readonly schedules: number;
  readonly kills: number;
  /** In which all due times are. */
  readonly windowMs: number;
  readonly random: Random;
  /** Called with the progress, for people. */
  readonly onProgress: (line: string) => void;
};

export type SchedulesPlayed = {
  readonly dueTimes: number;
  readonly started: number;
  readonly skipped: number;
  readonly wrong: readonly string[];
  /** Between a due time and the creation of its conversation. */
  readonly slowestMs: number;
};

type Planned = { readonly id: string; readonly trigger: AutomationTrigger };

const settleMs = 600_000;
/** Every so many schedules have an interval instead of one due time. */
const intervalEvery = 20;
const longestPauseMs = 8_000;

/** Creates schedules, kills servers while they are due, and compares what started with what was due. */
export async function playSchedules(rig: ScheduleRig, play: SchedulePlay): Promise<SchedulesPlayed> {
  const { windowMs, random, onProgress } = play;
  // Created before the first of them is due.
  const beginMs = Date.now() + 2_000 + play.schedules * 40;
  const planned = await create(rig, play, beginMs);
  onProgress(`${planned.length} schedules, ${Date.now() < beginMs ? "in time" : "late"}`);
  await sleep(Math.max(0, beginMs - Date.now()));
  const endMs = beginMs + windowMs;
  for (let kill = 0; kill < play.kills; kill += 1) {
    await sleep(random.whole(Math.max(1, Math.floor(windowMs / play.kills / 2))));
    await rig.kill(random.whole(rig.nodes.length), random.whole(Math.min(longestPauseMs, windowMs / 2)));
    onProgress(`${kill + 1} of ${play.kills} kills`);
  }
  await sleep(Math.max(0, endMs - Date.now()));
  await settle(rig, planned, endMs, onProgress);
  return await compare(rig, planned, endMs);
}

async function create(rig: ScheduleRig, play: SchedulePlay, beginMs: number): Promise<Planned[]> {
  const { schedules, windowMs, random } = play;
  const planned: Planned[] = [];
  const createOne = async (index: number): Promise<void> => {
    const at = new Date(beginMs + random.whole(windowMs)).toISOString();
    const trigger: AutomationTrigger =
      index % intervalEvery === 0
        ? { kind: "interval", every_seconds: 60, starts_at: at }
        : { kind: "once", at };
    planned.push({ id: await rig.create(`schedule ${index}`, trigger), trigger });
  };
  for (let first = 0; first < schedules; first += 10)
    await Promise.all(
      Array.from({ length: Math.min(10, schedules - first) }, (_, index) => createOne(first + index)),
    );
  return planned;
}

/** Resolves when the runs of all due times up to `endMs` have ended. Intervals go on meanwhile. */
async function settle(
  rig: ScheduleRig,
  planned: readonly Planned[],
  endMs: number,
  onProgress: SchedulePlay["onProgress"],
): Promise<void> {
  const open = new Set(planned);
  const deadlineMs = Date.now() + settleMs;
  while (open.size > 0 && Date.now() < deadlineMs) {
    for (const one of open) {
      const runs = runsUpTo(await rig.runsOf(one.id), endMs);
      const isOpen = runs.some(({ state }) => ["queued", "claimed", "started"].includes(state));
      if (!isOpen && countOf(runs) >= dueUpTo(one, endMs).length) open.delete(one);
    }
    onProgress(`${planned.length - open.size} of ${planned.length} have ended`);
    if (open.size > 0) await sleep(1_000);
  }
}

async function compare(
  rig: ScheduleRig,
  planned: readonly Planned[],
  endMs: number,
): Promise<SchedulesPlayed> {
  const wrong: string[] = [];
  const created = new Map<string, string[]>();
  for (const { id, tags } of await rig.conversations()) {
    const automation = tags?.["automation"] ?? "";
    created.set(automation, [...(created.get(automation) ?? []), id]);
  }
  let [dueTimes, started, skipped, slowestMs] = [0, 0, 0, 0];
  for (const one of planned) {
    const { id } = one;
    const all = await rig.runsOf(id);
    const runs = runsUpTo(all, endMs);
    const due = dueUpTo(one, endMs).map((at) => new Date(at).toISOString());
    const single = runs.filter(({ count }) => count === 1).map((run) => run.due_at);
    const isComplete = countOf(runs) === due.length && single.every((at) => due.includes(at));
    if (!isComplete) wrong.push(`${id}: due at ${due.join()}, recorded are ${JSON.stringify(runs)}`);
    const [known, own] = [conversationsOf(all), conversationsOf(runs)];
    const found = created.get(id) ?? [];
    const isSame = own.every((each) => found.includes(each)) && found.every((each) => known.includes(each));
    if (!isSame) wrong.push(`${id}: the runs have ${known.join()}, and there are ${found.join()}`);
    const bad = runs.filter(({ state }) => !["finished", "skipped"].includes(state));
    for (const run of bad) wrong.push(`${id}: ${JSON.stringify(run)}`);
    dueTimes += due.length;
    started += own.length;
    skipped += countOf(runs) - own.length;
    for (const run of runs)
      if (run.started_at !== null)
        slowestMs = Math.max(slowestMs, Date.parse(run.started_at) - Date.parse(run.due_at));
  }
  return { dueTimes, started, skipped, wrong, slowestMs };
}

function dueUpTo({ trigger }: Planned, endMs: number): readonly number[] {
  const schedule = createSchedule(trigger);
  return schedule.passed(schedule.next(0)!, endMs, 1_000).newest;
}

function runsUpTo(runs: readonly AutomationRun[], endMs: number): readonly AutomationRun[] {
  return runs.filter((run) => Date.parse(run.due_at) <= endMs);
}

function countOf(runs: readonly AutomationRun[]): number {
  return runs.reduce((sum, { count }) => sum + count, 0);
}

function conversationsOf(runs: readonly AutomationRun[]): string[] {
  return runs.flatMap((run) => (run.conversation_id === null ? [] : [run.conversation_id]));
}
