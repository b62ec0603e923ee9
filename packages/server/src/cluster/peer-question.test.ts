import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createProcessGroup } from "../testing/memory-nodes.ts";
import { PeerQuestion } from "./peer-question.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("each process asks all others, and gets their answers and no others", async () => {
  const members = createProcessGroup(3);
  const questions = members.map((member) => new PeerQuestion(member, "name", async () => member.number));
  const [answers, others] = await Promise.all([questions[0]!.ask(), questions[2]!.ask()]);
  expect(answers.toSorted((a, b) => a - b)).toEqual([2, 3]);
  expect(others.toSorted((a, b) => a - b)).toEqual([1, 2]);
});

test("a process that does not answer within a second, fails or has ended is left out of the answers", async () => {
  const members = createProcessGroup(4);
  const [asking] = members.map(
    (member) =>
      new PeerQuestion(member, "name", async () => {
        if (member.number === 2) throw new Error("It is not there yet.");
        return member.number === 3 ? await new Promise<number>(() => {}) : member.number;
      }),
  );
  const asked = asking!.ask();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await asked).toEqual([4]);
});

test("a single process asks nobody and does not wait", async () => {
  const [alone] = createProcessGroup(1);
  expect(await new PeerQuestion(alone!, "name", async () => 1).ask()).toEqual([]);
});
