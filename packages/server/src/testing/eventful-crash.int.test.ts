import { expect, test } from "vitest";
import { checkLeaksAfterEach } from "./check-leaks.ts";
import { countPassages, crashAt, crashThrough, type CrashResult } from "./crash-harness.ts";
import { eventfulScripts } from "./crash-script.ts";

checkLeaksAfterEach();

/** `CONVOKE_CRASHES=all` kills at every passage; otherwise one play is killed again and again. */
const isWhole = process.env["CONVOKE_CRASHES"] === "all";

const title = "kill -9 around parallel calls, an approval over a restart, a condensation and a fallback";

test.runIf(isWhole)(
  `P2, P6, P17, L23.8, L23.41: ${title}: at every append and every boundary of model and tools`,
  async ({ signal }) => {
    const waiting = await countPassages(eventfulScripts);
    const count = waiting.length;
    const failures: object[] = [];
    const worker = async (): Promise<void> => {
      for (
        let passage = waiting.shift();
        passage !== undefined && !signal.aborted;
        passage = waiting.shift()
      ) {
        const wrong = faultsOf(await crashAt(passage, eventfulScripts), [passage.point]);
        if (wrong.length > 0) failures.push({ ...passage, wrong });
      }
    };
    await Promise.all([worker(), worker()]);
    expect(failures).toEqual([]);
    expect(count).toBeGreaterThan(60);
    process.stdout.write(`killed at ${count} passages\n`);
  },
  1_800_000,
);

test(`P2, P6, P17, L23.8, L23.41: ${title}: again and again in one run`, async () => {
  // The approval ends the third server; the fourth dies while the summary is written. The same moments each time.
  const passages = [
    { point: "append.after", number: 4 },
    { point: "execute.after", number: 1 },
    null,
    { point: "model.during", number: 1 },
  ];
  const points = passages.flatMap((passage) => (passage === null ? [] : [passage.point]));
  expect(faultsOf(await crashThrough(passages, eventfulScripts), points)).toEqual([]);
}, 300_000);

/** Maximum number of calls with an unknown outcome: both calls of a pair, or the one next to the kill; none beside a model call. */
function maxUnknown(points: readonly string[]): number {
  const hits = points.map((point) => (point.startsWith("tool.") ? 2 : point.startsWith("model.") ? 0 : 1));
  return hits.reduce<number>((sum, hit) => sum + hit, 0);
}

/** `points`: where servers were killed. */
function faultsOf(result: CrashResult, points: readonly string[]): string[] {
  const { events, stored, followed, marks, approvals } = result;
  const wrong: string[] = [];
  if (!result.wasKilled) wrong.push("the server was not killed");
  if (result.status !== "finished") wrong.push(`the conversation is ${result.status}`);
  if (JSON.stringify(followed) !== JSON.stringify(stored)) wrong.push("the follower saw another log");
  if (result.replay?.difference !== null) wrong.push("the log leads to other requests");
  const actions = events.filter((event) => event.kind === "ActionEvent");
  if (actions.length !== 7) wrong.push(`${actions.length} actions`);
  const risky = actions.filter((event) => event.security_risk === "HIGH").map(({ id }) => id!);
  // Queried before and after the restart: the same two are pending.
  if (approvals.length < 2) wrong.push("no approval was listed after the restart");
  for (const ids of approvals)
    if (ids.join() !== risky.join()) wrong.push(`${ids.join()} waited instead of ${risky.join()}`);
  const condensations = events.filter(({ kind }) => kind === "Condensation");
  if (condensations.length !== 1) wrong.push(`${condensations.length} condensations`);
  const summaries = events.filter((_, index) => events[index - 1]?.kind === "Condensation");
  if (summaries[0]?.kind !== "CondensationSummaryEvent") wrong.push("a condensation without its summary");
  const unknown: string[] = [];
  for (const { id, tool_call, tool_call_id } of actions) {
    const answers = events.filter(
      (event) =>
        ("action_id" in event && event.action_id === id) ||
        (event.kind === "AgentErrorEvent" && event.tool_call_id === tool_call_id),
    );
    if (answers.length !== 1) wrong.push(`${tool_call_id} has ${answers.length} answers`);
    const [answer] = answers;
    const isUnknown = answer?.kind === "AgentErrorEvent";
    if (isUnknown) unknown.push(tool_call_id);
    if (isUnknown && !answer.error.includes("unknown")) wrong.push(`${tool_call_id}: ${answer.error}`);
    const mark = /echo (\w+)/.exec(tool_call.arguments)?.[1];
    if (mark === undefined) continue;
    const runs = marks.filter((line) => line === mark).length;
    if (runs > 1 || (runs === 0 && !isUnknown)) wrong.push(`${mark} ran ${runs} times`);
  }
  if (unknown.length > maxUnknown(points)) wrong.push(`unknown outcomes: ${unknown.join()}`);
  return wrong;
}
