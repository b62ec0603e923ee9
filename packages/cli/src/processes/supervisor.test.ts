import { expect, test } from "vitest";
import { Supervisor, type Ending } from "./supervisor.ts";

const killed: Ending = { code: null, signal: "SIGKILL" };
const done: Ending = { code: 0, signal: null };

/** A supervisor whose orders are written down. */
function supervise(count: number) {
  const orders: string[] = [];
  const clock = { ms: 0 };
  const note = (order: string) => (number: number) => void orders.push(`${order} ${number}`);
  const supervisor = new Supervisor({
    count,
    start: note("start"),
    stop: note("stop"),
    kill: note("kill"),
    wait: (number, ms) => orders.push(`wait ${number} for ${ms}`),
    clock: { nowMs: () => clock.ms },
    onReady: () => orders.push("ready"),
    onEnd: (code) => orders.push(`end ${code}`),
    onDeath: (number, { code, signal }) => orders.push(`death of ${number} by ${signal ?? code}`),
  });
  supervisor.begin();
  return { supervisor, clock, taken: () => orders.splice(0) };
}

function serving(count: number) {
  const all = supervise(count);
  for (let number = 1; number <= count; number += 1) all.supervisor.ready(number);
  all.taken();
  return all;
}

test("the first process starts alone, the others when it serves, and all of them are ready once", () => {
  const { supervisor, taken } = supervise(3);
  expect(taken()).toEqual(["start 1"]);
  supervisor.ready(1);
  expect(taken()).toEqual(["start 2", "start 3"]);
  supervisor.ready(3);
  expect(taken()).toEqual([]);
  supervisor.ready(2);
  expect(taken()).toEqual(["ready"]);
});

test("one alone is ready at once", () => {
  const { supervisor, taken } = supervise(1);
  supervisor.ready(1);
  expect(taken()).toEqual(["start 1", "ready"]);
});

test("a start that fails ends with the code of the process that failed, after the others", () => {
  const { supervisor, taken } = supervise(3);
  supervisor.ended(1, { code: 2, signal: null });
  expect(taken()).toEqual(["start 1", "end 2"]);
  const later = supervise(3);
  later.supervisor.ready(1);
  later.taken();
  later.supervisor.ended(2, killed);
  expect(later.taken()).toEqual(["stop 1", "stop 3"]);
  later.supervisor.ended(1, done);
  expect(later.taken()).toEqual([]);
  later.supervisor.ended(3, done);
  expect(later.taken()).toEqual(["end 1"]);
});

test("a process that ends while all start has failed, even with code 0", () => {
  const { supervisor, taken } = supervise(2);
  supervisor.ended(1, done);
  expect(taken()).toEqual(["start 1", "end 1"]);
});

test("one that dies is started again, after pauses that grow to half a minute", () => {
  const { supervisor, taken } = serving(2);
  const pauses: string[] = [];
  for (let death = 0; death < 11; death += 1) {
    supervisor.ended(2, killed);
    const [reason, wait] = taken();
    expect(reason).toBe("death of 2 by SIGKILL");
    pauses.push(wait ?? "");
    supervisor.due(2);
    expect(taken()).toEqual(["start 2"]);
  }
  const lengths = [100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000];
  expect(pauses).toEqual(lengths.map((ms) => `wait 2 for ${ms}`));
  supervisor.ready(2);
  expect(taken()).toEqual([]);
});

test("one that has lived for a minute is started again soon, however often it had died", () => {
  const { supervisor, clock, taken } = serving(2);
  for (const _ of [1, 2, 3]) {
    supervisor.ended(1, killed);
    supervisor.due(1);
  }
  taken();
  clock.ms += 60_000;
  supervisor.ended(1, { code: 0, signal: null });
  expect(taken()).toEqual(["death of 1 by 0", "wait 1 for 100"]);
});

test("stopping asks all that run, starts nothing again, and ends with the last one", () => {
  const { supervisor, taken } = serving(3);
  supervisor.ended(2, killed);
  taken();
  supervisor.stop(130);
  expect(taken()).toEqual(["stop 1", "stop 3"]);
  supervisor.due(2);
  supervisor.ended(3, done);
  expect(taken()).toEqual([]);
  supervisor.ended(1, done);
  expect(taken()).toEqual(["end 0"]);
});

test("a process that fails while it stops is told in the exit code", () => {
  const { supervisor, taken } = serving(2);
  supervisor.stop(130);
  supervisor.ended(1, killed);
  supervisor.ended(2, done);
  expect(taken()).toEqual(["stop 1", "stop 2", "end 1"]);
});

test("asked twice, it kills what runs and ends with the code of the impatient", () => {
  const { supervisor, taken } = serving(2);
  supervisor.stop(130);
  supervisor.ended(1, done);
  taken();
  supervisor.stop(130);
  expect(taken()).toEqual(["kill 2"]);
  supervisor.ended(2, killed);
  expect(taken()).toEqual(["end 130"]);
});

test("stopped while everything waits or nothing is ready, it ends as well", () => {
  const waiting = serving(1);
  waiting.supervisor.ended(1, killed);
  waiting.taken();
  waiting.supervisor.stop(130);
  expect(waiting.taken()).toEqual(["end 0"]);
  const starting = supervise(2);
  starting.taken();
  starting.supervisor.stop(130);
  starting.supervisor.ready(1);
  starting.supervisor.ended(1, done);
  expect(starting.taken()).toEqual(["stop 1", "end 0"]);
});

test("what is told twice or too late changes nothing", () => {
  const { supervisor, taken } = serving(2);
  supervisor.due(1);
  supervisor.ready(7);
  supervisor.ended(7, killed);
  supervisor.stop(130);
  supervisor.ended(1, done);
  supervisor.ended(1, killed);
  supervisor.ended(2, done);
  supervisor.ended(2, done);
  supervisor.stop(130);
  expect(taken()).toEqual(["stop 1", "stop 2", "end 0"]);
});
