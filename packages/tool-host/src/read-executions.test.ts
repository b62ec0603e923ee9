import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { ExecutionJournal } from "./execution-journal.ts";
import { PendingMarks } from "./pending-marks.ts";
import { readExecutions } from "./read-executions.ts";
import { openTemporaryDirectory } from "./testing/temporary-directory.ts";

const marks = PendingMarks.open();
const onUnsafe = (): void => {};
const outcome = { type: "error", text: "no" } as const;

test("calls are read while their session writes: started, ended and unknown ones", async () => {
  await using directory = await openTemporaryDirectory();
  const path = join(directory.path, "executions.sqlite");
  expect(readExecutions(path, ["a"])).toEqual([]);
  using journal = new ExecutionJournal({ path, onUnsafe });
  expect(readExecutions(path, ["a"])).toEqual([]);
  await journal.start("a", "terminal");
  await journal.start("b", "terminal");
  journal.finish("b", "terminal", outcome);
  expect(readExecutions(path, ["a", "b", "c"])).toEqual([
    { actionId: "a", state: "started", startedAtMs: expect.any(Number), endedAtMs: null },
    { actionId: "b", state: "ended", startedAtMs: expect.any(Number), endedAtMs: expect.any(Number) },
  ]);
  // The execution was read, not started.
  expect(journal.find("c")).toBeUndefined();
});

test.runIf(marks !== null)("an announced call has not started as long as its mark exists", async () => {
  await using directory = await openTemporaryDirectory();
  const path = join(directory.path, "executions.sqlite");
  using journal = new ExecutionJournal({ path, onUnsafe });
  journal.announce("a", "terminal");
  const announced = { actionId: "a", state: "announced", startedAtMs: null, endedAtMs: null };
  expect(readExecutions(path, ["a"])).toEqual([announced]);
  expect(readExecutions(path, ["a"], null)).toEqual([{ ...announced, state: "started" }]);
  await journal.start("a", "terminal");
  expect(readExecutions(path, ["a"])).toMatchObject([{ state: "started" }]);
});

test("a file of a release without announcements is read", async () => {
  await using directory = await openTemporaryDirectory();
  const path = join(directory.path, "executions.sqlite");
  using database = new DatabaseSync(path);
  database.exec(`CREATE TABLE executions (sequence INTEGER PRIMARY KEY, action_id TEXT NOT NULL UNIQUE,
      tool TEXT NOT NULL, started_at_ms INTEGER, ended_at_ms INTEGER, outcome TEXT);
    INSERT INTO executions (action_id, tool, started_at_ms) VALUES ('a', 'terminal', 7)`);
  expect(readExecutions(path, ["a"])).toEqual([
    { actionId: "a", state: "started", startedAtMs: 7, endedAtMs: null },
  ]);
});
