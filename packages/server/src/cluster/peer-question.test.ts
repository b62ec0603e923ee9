import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createFellows } from "../testing/memory-fellows.ts";
import { FellowQuestion } from "./peer-question.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("each process asks all others, and hears their answers and no others", async () => {
  const fellows = createFellows(3);
  const questions = fellows.map((fellow) => new FellowQuestion(fellow, "name", async () => fellow.number));
  const [answers, others] = await Promise.all([questions[0]!.ask(), questions[2]!.ask()]);
  expect(answers.toSorted((a, b) => a - b)).toEqual([2, 3]);
  expect(others.toSorted((a, b) => a - b)).toEqual([1, 2]);
});

test("whoever does not answer within a second, fails or has ended is an answer less", async () => {
  const fellows = createFellows(4);
  const [asking] = fellows.map(
    (fellow) =>
      new FellowQuestion(fellow, "name", async () => {
        if (fellow.number === 2) throw new Error("It is not there yet.");
        return fellow.number === 3 ? await new Promise<number>(() => {}) : fellow.number;
      }),
  );
  const asked = asking!.ask();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await asked).toEqual([4]);
});

test("one alone asks nobody and waits for nobody", async () => {
  const [alone] = createFellows(1);
  expect(await new FellowQuestion(alone!, "name", async () => 1).ask()).toEqual([]);
});
