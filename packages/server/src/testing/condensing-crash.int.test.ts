import { expect, test } from "vitest";
import { checkLeaksAfterEach } from "./check-leaks.ts";
import { condensingCrashScript } from "./crash-script.ts";
import { countPassages, crashAt, type CrashResult } from "./crash-harness.ts";

checkLeaksAfterEach();

/** As in `crash-harness.int.test.ts`: all passages at night, every fifth one among other suites. */
const isEvery = process.env["CONVOKE_EVERY_PASSAGE"] === "1";

test("P2, P6, P11: after kill -9 at appends and model calls around a condensation the run ends by itself", async ({
  signal,
}) => {
  // From the first too long request to the first request after the summary.
  const passages = await countPassages({ script: condensingCrashScript });
  const at = (number: number) =>
    passages.findIndex((passage) => passage.point === "model.before" && passage.number === number);
  const waiting = passages.slice(at(3), at(5) + 1);
  expect(waiting.length).toBeGreaterThanOrEqual(10);
  const failures: object[] = [];
  for (const passage of waiting.filter((_, index) => isEvery || index % 5 === 0)) {
    if (signal.aborted) break;
    const wrong = faultsOf(await crashAt(passage, { script: condensingCrashScript }));
    if (wrong.length > 0) failures.push({ ...passage, wrong });
  }
  expect(failures).toEqual([]);
}, 900_000);

function faultsOf(result: CrashResult): string[] {
  const { events, followed, marks, stored } = result;
  const wrong: string[] = [];
  if (!result.wasKilled) wrong.push("the server was not killed");
  if (result.status !== "finished") wrong.push(`the conversation is ${result.status}`);
  if (JSON.stringify(followed) !== JSON.stringify(stored)) wrong.push("the follower saw another log");
  if (result.replay?.difference !== null) wrong.push("the log leads to other requests");
  if (marks.toSorted().join() !== "one,three,two") wrong.push(`the commands left ${marks.join()}`);
  const condensations = events.filter(({ kind }) => kind === "Condensation");
  if (condensations.length !== 1) wrong.push(`${condensations.length} condensations`);
  const summaries = events.filter((_, index) => events[index - 1]?.kind === "Condensation");
  if (summaries[0]?.kind !== "CondensationSummaryEvent") wrong.push("a condensation without its summary");
  const kinds = new Set(events.map(({ kind }) => kind));
  if (!kinds.has("CondensationRequest")) wrong.push("nobody asked for the condensation");
  for (const action of events.filter((event) => event.kind === "ActionEvent")) {
    const answers = events.filter((event) => "action_id" in event && event.action_id === action.id);
    if (answers.length !== 1) wrong.push(`${action.tool_call_id} has ${answers.length} answers`);
  }
  return wrong;
}
