import { expect, test } from "vitest";
import { BashLog, createBashId } from "./bash-log.ts";

const all = { owner: "ada", isDescending: false, limit: 100 };

function openLog(options: { capacityBytes?: number; ttlMs?: number } = {}) {
  let nowMs = Date.UTC(2026, 0, 1);
  const log = new BashLog({
    path: ":memory:",
    capacityBytes: options.capacityBytes ?? 1_000_000,
    ttlMs: options.ttlMs ?? null,
    nowMs: () => nowMs,
  });
  const record = (command: string, isEnded = true): string => {
    const commandId = createBashId();
    log.append({ id: commandId, owner: "ada", commandId, kind: "BashCommand", fields: { command } }, "1:1");
    if (!isEnded) return commandId;
    const fields = { order: 0, exit_code: 0, stdout: "x".repeat(1_000), stderr: null };
    log.append({ id: createBashId(), owner: "ada", commandId, kind: "BashOutput", fields });
    return commandId;
  };
  const commands = (): unknown[] =>
    log
      .search({ ...all, kind: "BashCommand" })
      .items.map((item) => (JSON.parse(item) as { command: string }).command);
  return { log, record, commands, setNow: (ms: number) => (nowMs = ms) };
}

test("P40: timestamps have a fixed width and increase even when the clock stands still or goes back", () => {
  const { log, record, setNow } = openLog();
  record("one");
  setNow(0);
  record("two");
  const times = log.search(all).items.map((item) => (JSON.parse(item) as { timestamp: string }).timestamp);
  expect(times).toEqual([
    "2026-01-01T00:00:00.000000Z",
    "2026-01-01T00:00:00.000001Z",
    "2026-01-01T00:00:00.000002Z",
    "2026-01-01T00:00:00.000003Z",
  ]);
});

test("P19: beyond the maximum size the oldest commands are deleted, each as a whole, and never a running one", () => {
  const { log, record, commands } = openLog({ capacityBytes: 3_000 });
  record("runs", false);
  for (const name of ["a", "b", "c", "d"]) record(name);
  log.forget();
  expect(commands()).toEqual(["runs", "c", "d"]);
  log.forget();
  expect(commands()).toEqual(["runs", "c", "d"]);
});

test("P19: commands older than the maximum age are deleted, and never a running one", () => {
  const { log, record, commands, setNow } = openLog({ ttlMs: 60_000 });
  record("old");
  record("runs", false);
  setNow(Date.UTC(2026, 0, 1, 0, 0, 59));
  record("new");
  log.forget();
  expect(commands()).toEqual(["old", "runs", "new"]);
  setNow(Date.UTC(2026, 0, 1, 0, 1, 1));
  log.forget();
  expect(commands()).toEqual(["runs", "new"]);
});
