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
  const beginMs = Date.now() + 5_000 + play.schedules * 40;
  const planned = await create(rig, play, beginMs);
  onProgress(`${planned.length} schedules, ${Date.now() < beginMs ? "in time" : "late"}`);
  await sleep(Math.max(0, beginMs - Date.now()));
  const endMs = beginMs + windowMs;
  for (let kill = 0; kill < play.kills; kill += 1) {
    await sleep(random.whole(Math.max(1, Math.floor(windowMs / play.kills / 2))));
    await rig.kill(random.whole(rig.nodes.length), random.whole(longestPauseMs));
    onProgress(`${kill + 1} of ${play.kills} kills`);
  }
  await sleep(Math.max(0, endMs - Date.now()));
  const intervals = planned.filter(({ trigger }) => trigger.kind === "interval");
  for (const { id } of intervals) await rig.pause(id);
  const pausedMs = Date.now();
  const runs = await settle(rig, planned, onProgress);
  return await compare(rig, planned, runs, pausedMs);
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

/** The runs of each schedule once nothing is open any more. */
async function settle(
  rig: ScheduleRig,
  planned: readonly Planned[],
  onProgress: SchedulePlay["onProgress"],
): Promise<ReadonlyMap<string, readonly AutomationRun[]>> {
  const done = new Map<string, readonly AutomationRun[]>();
  const deadlineMs = Date.now() + settleMs;
  for (;;) {
    for (const { id } of planned) {
      if (done.has(id)) continue;
      const runs = await rig.runsOf(id);
      const isOpen = runs.some(({ state }) => ["queued", "claimed", "started"].includes(state));
      if (runs.length > 0 && !isOpen) done.set(id, runs);
    }
    onProgress(`${done.size} of ${planned.length} have ended`);
    if (done.size === planned.length) return done;
    if (Date.now() > deadlineMs) return done;
    await sleep(1_000);
  }
}

async function compare(
  rig: ScheduleRig,
  planned: readonly Planned[],
  runsById: ReadonlyMap<string, readonly AutomationRun[]>,
  pausedMs: number,
): Promise<SchedulesPlayed> {
  const wrong: string[] = [];
  const created = new Map<string, string[]>();
  for (const { id, tags } of await rig.conversations()) {
    const automation = tags?.["automation"] ?? "";
    created.set(automation, [...(created.get(automation) ?? []), id]);
  }
  let [dueTimes, started, skipped, slowestMs] = [0, 0, 0, 0];
  for (const { id, trigger } of planned) {
    const runs = runsById.get(id);
    if (runs === undefined) {
      wrong.push(`${id}: its runs have not ended: ${JSON.stringify(await rig.runsOf(id))}`);
      continue;
    }
    const schedule = createSchedule(trigger);
    const due = schedule.passed(schedule.next(0)!, pausedMs, 1_000).newest;
    const recorded = runs.reduce((sum, { count }) => sum + count, 0);
    // One that was due at the moment of the pause may be on either side of it.
    const isAtPause = due.length - recorded === 1 && pausedMs - due.at(-1)! < 2_000;
    if (recorded !== due.length && !isAtPause)
      wrong.push(`${id}: ${due.length} due times, ${recorded} recorded`);
    const own = runs.flatMap((run) => (run.conversation_id === null ? [] : [run.conversation_id]));
    const found = created.get(id) ?? [];
    if (found.toSorted().join() !== own.toSorted().join())
      wrong.push(`${id}: the runs have the conversations ${own.join()}, and there are ${found.join()}`);
    const bad = runs.filter(({ state }) => !["finished", "skipped"].includes(state));
    for (const run of bad) wrong.push(`${id}: ${JSON.stringify(run)}`);
    dueTimes += due.length;
    started += own.length;
    skipped += recorded - own.length;
    for (const run of runs)
      if (run.started_at !== null)
        slowestMs = Math.max(slowestMs, Date.parse(run.started_at) - Date.parse(run.due_at));
  }
  return { dueTimes, started, skipped, wrong, slowestMs };
}
