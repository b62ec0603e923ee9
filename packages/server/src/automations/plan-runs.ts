import type { AutomationOverlap } from "@convoke/protocol";
import { dueKeyOf, type AutomationRun } from "./automation.ts";
import type { Decision, DecisionBase, NewRun } from "./decision.ts";
import { createSchedule } from "./schedule.ts";

/** A due time that is younger is on time: it starts whatever the limits of catch-up are. No trigger has two of them at a time. */
const onTimeMs = 60_000;

/** Why no due time of an automation may start, in a sentence; null: they may. */
export type Refusal = string | null;

/** What becomes of the due times up to now. Null when there are none. */
export function planDue(
  { automation, active }: DecisionBase,
  nowMs: number,
  refusal: Refusal,
): Decision | null {
  const { nextDueMs: firstMs, trigger, overlap, catchUp } = automation;
  if (firstMs === null || firstMs > nowMs || automation.isPaused) return null;
  const schedule = createSchedule(trigger);
  const { max_runs: maxRuns = 1, max_age_seconds: maxAgeSeconds = 86_400 } = catchUp;
  const { count, newest } = schedule.passed(firstMs, nowMs, maxRuns + 2);
  const onTime = newest.filter((at) => at > nowMs - onTimeMs);
  const late = newest.filter((at) => at <= nowMs - onTimeMs && at >= nowMs - maxAgeSeconds * 1_000);
  const maxLate = Math.max(0, maxRuns - onTime.length);
  const caughtUp = maxLate === 0 ? [] : late.slice(-maxLate);
  const starting = refusal === null ? [...caughtUp, ...onTime] : [];
  const skipped = count - starting.length;
  const lastSkipped = newest.at(-starting.length - 1) ?? firstMs;
  const reason = refusal ?? "No server ran at this time, and the limits of catch-up leave it out.";
  const missed: readonly NewRun[] =
    skipped === 0
      ? []
      : [
          {
            dueKey: dueKeyOf(firstMs),
            origin: "schedule",
            state: "skipped",
            reason,
            dueAtMs: firstMs,
            lastDueAtMs: skipped === 1 ? null : lastSkipped,
            count: skipped,
          },
        ];
  const drafts = starting.map((at): RunDraft => ({ dueKey: dueKeyOf(at), origin: "schedule", dueAtMs: at }));
  const placed = placeRuns(drafts, active, overlap);
  return { ...placed, runs: [...missed, ...placed.runs], nextDueMs: schedule.next(nowMs) };
}

export type RunDraft = Omit<NewRun, "state" | "reason">;

/** Decides for each run whether it starts, waits or is skipped, by the runs before it. */
export function placeRuns(
  drafts: readonly RunDraft[],
  active: readonly AutomationRun[],
  { mode = "skip", max_queued: maxQueued = 1 }: AutomationOverlap,
): Pick<Decision, "runs" | "replaced" | "claimed"> {
  if (mode === "replace") return placeReplacing(drafts, active);
  let queued = active.filter(({ state }) => state === "queued").length;
  let isFree = active.length === 0;
  const runs = drafts.map((draft): NewRun => {
    if (isFree) {
      isFree = false;
      return { ...draft, state: "claimed" };
    }
    if (mode === "skip") return { ...draft, state: "skipped", reason: "An earlier run is still active." };
    if (queued >= maxQueued)
      return { ...draft, state: "skipped", reason: `The queue is full: ${maxQueued} runs wait.` };
    queued += 1;
    return { ...draft, state: "queued" };
  });
  return { runs, replaced: [], claimed: [] };
}

/** Only the newest run starts. One whose conversation is being created cannot be interrupted yet, so the newest waits for that. */
function placeReplacing(
  drafts: readonly RunDraft[],
  active: readonly AutomationRun[],
): Pick<Decision, "runs" | "replaced" | "claimed"> {
  const isCreating = active.some(({ state }) => state === "claimed");
  const runs = drafts.map((draft, index): NewRun => {
    if (index < drafts.length - 1)
      return { ...draft, state: "skipped", reason: "A later run took its place." };
    return { ...draft, state: isCreating ? "queued" : "claimed" };
  });
  const over = active.filter(({ state }) => state === "queued" || (state === "started" && !isCreating));
  return { runs, replaced: drafts.length === 0 ? [] : over.map(({ id }) => id), claimed: [] };
}

/** Starts the oldest queued run, if nothing is in its way. Those of a paused automation wait, except what a person has ordered. */
export function planQueued({ automation, active }: DecisionBase): Decision | null {
  const [first] = active.filter(({ state }) => state === "queued");
  const working = active.filter(({ state }) => state !== "queued");
  const isReplacing = automation.overlap.mode === "replace";
  const isBlocked = working.some(({ state }) => state === "claimed" || !isReplacing);
  const mayStart = first !== undefined && (!automation.isPaused || first.origin === "manual");
  if (!mayStart || isBlocked) return null;
  return {
    runs: [],
    replaced: working.map(({ id }) => id),
    claimed: [first.id],
    nextDueMs: automation.nextDueMs,
  };
}
