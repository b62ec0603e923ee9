import { copyFileSync, existsSync, readdirSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import { ExecutionJournal } from "./execution-journal.ts";
import type { Outcome } from "./host.ts";
import { PendingMarks } from "./pending-marks.ts";
import { openTemporaryDirectory } from "./testing/temporary-directory.ts";

const hasMemory = PendingMarks.open() !== null;

test("P6: an id starts once, its first outcome stays", async () => {
  const journal = await openJournal({});
  expect(journal.find("a")).toBeUndefined();
  expect(await journal.start("a", "terminal")).toBe(true);
  expect(await journal.start("a", "terminal")).toBe(false);
  expect(journal.find("a")).toEqual({ type: "started" });
  journal.finish("a", "terminal", text("one"));
  journal.finish("a", "terminal", text("two"));
  expect(journal.find("a")).toEqual({ type: "ended", outcome: text("one") });
});

test("an execution that ended without starting has an outcome and cannot start", async () => {
  const journal = await openJournal({});
  journal.finish("a", "terminal", text("cancelled early"), { isStarted: false });
  expect(await journal.start("a", "terminal")).toBe(false);
  expect(journal.find("a")).toEqual({ type: "ended", outcome: text("cancelled early") });
});

test("P6: a process that lost its session does not end a call that another one has started since", async () => {
  await using directory = await openTemporaryDirectory();
  const path = join(directory.path, "executions.sqlite");
  using old = new ExecutionJournal({ path, onUnsafe });
  using now = new ExecutionJournal({ path, onUnsafe });
  expect(await now.start("a", "terminal")).toBe(true);
  old.finish("a", "terminal", text("cancelled before it started"), { isStarted: false });
  expect(now.find("a")).toEqual({ type: "started" });
  now.finish("a", "terminal", text("it ran"));
  expect(old.find("a")).toEqual({ type: "ended", outcome: text("it ran") });
});

test("P6: what was written before a process is killed is read by the next one", async () => {
  await using directory = await openTemporaryDirectory();
  const path = join(directory.path, "executions.sqlite");
  using journal = new ExecutionJournal({ path, onUnsafe });
  await journal.start("ended", "terminal");
  journal.finish("ended", "terminal", text("one"));
  await journal.start("begun", "terminal");
  // The files as a killed process leaves them now.
  const left = join(directory.path, "left.sqlite");
  for (const suffix of ["", "-wal"]) copyFileSync(`${path}${suffix}`, `${left}${suffix}`);
  using next = new ExecutionJournal({ path: left, onUnsafe });
  expect(next.find("ended")).toEqual({ type: "ended", outcome: text("one") });
  expect(next.find("begun")).toEqual({ type: "started" });
  expect(await next.start("begun", "terminal")).toBe(false);
});

test("P6: what was announced is unknown until it starts, and starts once", async () => {
  const journal = await openJournal({});
  journal.announce("a", "terminal");
  expect(journal.find("a")).toBeUndefined();
  expect(await journal.start("a", "terminal")).toBe(true);
  expect(journal.find("a")).toEqual({ type: "started" });
  journal.announce("a", "terminal");
  expect(await journal.start("a", "terminal")).toBe(false);
  journal.finish("a", "terminal", text("one"));
  expect(journal.find("a")).toEqual({ type: "ended", outcome: text("one") });
  journal.announce("b", "terminal");
  journal.finish("b", "terminal", text("cancelled early"), { isStarted: false });
  expect(await journal.start("b", "terminal")).toBe(false);
});

test.runIf(hasMemory)(
  "P6: after the process was killed, an announced call that did not start may start once",
  async () => {
    await using directory = await openTemporaryDirectory();
    const path = join(directory.path, "executions.sqlite");
    using journal = new ExecutionJournal({ path, onUnsafe });
    journal.announce("a", "terminal");
    using first = new ExecutionJournal({ path: leave(path, "first.sqlite"), onUnsafe });
    using second = new ExecutionJournal({ path: leave(path, "second.sqlite"), onUnsafe });
    expect(first.find("a")).toBeUndefined();
    expect(await first.start("a", "terminal")).toBe(true);
    expect(second.find("a")).toEqual({ type: "started" });
    expect(await second.start("a", "terminal")).toBe(false);
  },
);

test.runIf(hasMemory)("P6: after a reboot an announced call counts as possibly started", async () => {
  await using directory = await openTemporaryDirectory();
  await using memory = await openMemory();
  const path = join(directory.path, "executions.sqlite");
  using journal = new ExecutionJournal({ path, onUnsafe });
  journal.announce("a", "terminal");
  for (const marks of [PendingMarks.open(memory.path), null]) {
    using afterCut = new ExecutionJournal({
      path: leave(path, `cut-${marks === null}.sqlite`),
      marks,
      onUnsafe,
    });
    expect(afterCut.find("a")).toEqual({ type: "started" });
    expect(await afterCut.start("a", "terminal")).toBe(false);
  }
});

test.runIf(hasMemory)("P6: a start that a removed disk lost still counts as possibly started", async () => {
  await using directory = await openTemporaryDirectory();
  const path = join(directory.path, "executions.sqlite");
  const onDisk = join(directory.path, "disk.sqlite");
  // Keeps what was synced to the disk and loses the rest, without a reboot of the machine.
  const datasync = async (): Promise<void> => {
    for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, onDisk + suffix);
  };
  using journal = new ExecutionJournal({ path, datasync, onUnsafe });
  journal.announce("ran", "terminal");
  expect(await journal.start("ran", "terminal")).toBe(true);
  journal.announce("waits", "terminal");
  await until(() => existsSync(onDisk) && isRecorded(onDisk, "waits"));
  using back = new ExecutionJournal({ path: onDisk, onUnsafe });
  expect(back.find("ran")).toEqual({ type: "started" });
  expect(await back.start("ran", "terminal")).toBe(false);
  expect(back.find("waits")).toBeUndefined();
  expect(await back.start("waits", "terminal")).toBe(true);
});

test.runIf(hasMemory)("P57: announcements of a release with another format count as started", async () => {
  await using directory = await openTemporaryDirectory();
  const path = join(directory.path, "executions.sqlite");
  using journal = new ExecutionJournal({ path, onUnsafe });
  using old = new DatabaseSync(path);
  const add = old.prepare("INSERT INTO executions (action_id, tool, announced_in) VALUES (?, 'terminal', ?)");
  for (const [index, name] of ["0b5f7b9a-boot", "../../etc/passwd", "convoke-pending-.."].entries()) {
    add.run(`a${index}`, name);
    expect(journal.find(`a${index}`)).toEqual({ type: "started" });
    expect(await journal.start(`a${index}`, "terminal")).toBe(false);
  }
});

test.runIf(hasMemory)("no mark is left of calls that started, ended early or were withdrawn", async () => {
  await using memory = await openMemory();
  const journal = await openJournal({ marks: PendingMarks.open(memory.path) });
  for (const id of ["begun", "ended", "waits", "begun"]) journal.announce(id, "terminal");
  expect(readdirSync(memory.path)).toHaveLength(3);
  await journal.start("begun", "terminal");
  journal.finish("ended", "terminal", text("cancelled early"), { isStarted: false });
  journal[Symbol.dispose]();
  expect(readdirSync(memory.path)).toEqual([]);
});

test.for(["when its session ends", "when it was not used for a while"])(
  "P6: an announcement is withdrawn %s, so after a reboot its call does not count as started",
  async (when) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    await using directory = await openTemporaryDirectory();
    const path = join(directory.path, "executions.sqlite");
    const left = join(directory.path, "left.sqlite");
    using journal = new ExecutionJournal({ path, onUnsafe });
    journal.announce("waits", "terminal");
    journal.announce("begun", "terminal");
    expect(await journal.start("begun", "terminal")).toBe(true);
    if (when === "when its session ends") journal[Symbol.dispose]();
    else vi.advanceTimersByTime(2_000);
    for (const suffix of ["", "-wal"].filter((end) => existsSync(path + end)))
      copyFileSync(path + suffix, left + suffix);
    using next = new ExecutionJournal({ path: left, marks: null, onUnsafe });
    expect(next.find("begun")).toEqual({ type: "started" });
    expect(next.find("waits")).toBeUndefined();
    expect(await next.start("waits", "terminal")).toBe(true);
  },
);

test("P6: a call whose announcement was withdrawn starts once, when its turn comes", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const journal = await openJournal({});
  journal.announce("a", "terminal");
  vi.advanceTimersByTime(2_000);
  expect(await journal.start("a", "terminal")).toBe(true);
  vi.advanceTimersByTime(2_000);
  expect(journal.find("a")).toEqual({ type: "started" });
  expect(await journal.start("a", "terminal")).toBe(false);
});

test("P6: after the disk has refused a part of the log, new starts do not depend on that part", async () => {
  await using directory = await openTemporaryDirectory();
  const path = join(directory.path, "executions.sqlite");
  let isRefusing = true;
  const datasync = async (): Promise<void> => {
    if (isRefusing) throw new Error("EIO");
  };
  using journal = new ExecutionJournal({ path, datasync, onUnsafe });
  await expect(journal.start("refused", "terminal")).rejects.toThrow("EIO");
  isRefusing = false;
  expect(await journal.start("begun", "terminal")).toBe(true);
  // The database without the log, which has a gap.
  const left = join(directory.path, "left.sqlite");
  copyFileSync(path, left);
  using next = new ExecutionJournal({ path: left, marks: null, onUnsafe });
  expect(next.find("begun")).toEqual({ type: "started" });
  isRefusing = true;
  journal.announce("announced", "terminal");
  await expect(journal.start("announced", "terminal")).rejects.toThrow("EIO");
});

test("where the machine has no memory for marks nothing is announced", async () => {
  const journal = await openJournal({ marks: null });
  journal.announce("a", "terminal");
  expect(journal.find("a")).toBeUndefined();
  expect(await journal.start("a", "terminal")).toBe(true);
  expect(journal.find("a")).toEqual({ type: "started" });
});

test("P57: a file of the previous release is read and appended to", async () => {
  await using directory = await openTemporaryDirectory();
  const path = join(directory.path, "executions.sqlite");
  const old = new DatabaseSync(path);
  old.exec(`
    CREATE TABLE executions (
      sequence INTEGER PRIMARY KEY, action_id TEXT NOT NULL UNIQUE, tool TEXT NOT NULL,
      started_at_ms INTEGER, ended_at_ms INTEGER, outcome TEXT
    );
    INSERT INTO executions (action_id, tool, started_at_ms) VALUES ('old', 'terminal', 1);
  `);
  old.close();
  using journal = new ExecutionJournal({ path, onUnsafe });
  expect(journal.find("old")).toEqual({ type: "started" });
  journal.announce("new", "terminal");
  expect(await journal.start("new", "terminal")).toBe(true);
});

test("P19: only the newest outcomes are stored; older ids are still known, so they never run twice", async () => {
  const journal = await openJournal({ maxOutcomes: 100 });
  await fill(journal, 256, "x");
  const found = Array.from({ length: 256 }, (_, index) => journal.find(`a${index}`)).map((record) =>
    record?.type === "ended" && record.outcome.type === "error" && record.outcome.text === "x"
      ? "kept"
      : record,
  );
  expect(found.filter((record) => record === "kept")).toHaveLength(100);
  expect(found[155]).toMatchObject({ type: "ended", outcome: { text: expect.stringContaining("too old") } });
  expect(found.slice(156).every((record) => record === "kept")).toBe(true);
  expect(await journal.start("a0", "terminal")).toBe(false);
});

test("P19: large outcomes are bounded by their size, but the newest 32 always stay", async () => {
  const journal = await openJournal({ maxOutcomeBytes: 10_000 });
  const long = "y".repeat(1_000);
  await fill(journal, 128, long);
  const isStored = (index: number): boolean => JSON.stringify(journal.find(`a${index}`)).includes(long);
  expect([95, 96, 127].map(isStored)).toEqual([false, true, true]);
});

/** Copies the files as a killed process leaves them now. */
function leave(path: string, name: string): string {
  const copy = join(dirname(path), name);
  for (const suffix of ["", "-wal"]) copyFileSync(`${path}${suffix}`, `${copy}${suffix}`);
  return copy;
}

function isRecorded(path: string, actionId: string): boolean {
  using database = new DatabaseSync(path);
  return database.prepare("SELECT 1 FROM executions WHERE action_id = ?").get(actionId) !== undefined;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

/** A new directory for marks, as after a reboot of the machine. */
async function openMemory() {
  const path = await mkdtemp("/dev/shm/convoke-test-");
  return { path, [Symbol.asyncDispose]: async () => await rm(path, { recursive: true, force: true }) };
}

async function openJournal(options: {
  maxOutcomes?: number;
  maxOutcomeBytes?: number;
  marks?: PendingMarks | null;
}): Promise<ExecutionJournal> {
  const directory = await openTemporaryDirectory();
  const path = join(directory.path, "executions.sqlite");
  const journal = new ExecutionJournal({ path, onUnsafe, ...options });
  onTestFinished(async () => {
    journal[Symbol.dispose]();
    await directory[Symbol.asyncDispose]();
  });
  return journal;
}

async function fill(journal: ExecutionJournal, count: number, content: string): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await journal.start(`a${index}`, "terminal");
    journal.finish(`a${index}`, "terminal", text(content));
  }
}

function onUnsafe(error: unknown): never {
  throw new Error("the disk refused", { cause: error });
}

function text(content: string): Outcome {
  return { type: "error", text: content };
}

test("16: only its owner can read the record, whatever the umask is", async () => {
  await using directory = await openTemporaryDirectory();
  const before = process.umask(0);
  onTestFinished(() => void process.umask(before));
  using journal = new ExecutionJournal({ path: join(directory.path, "executions.sqlite"), onUnsafe });
  await journal.start("a", "terminal");
  const modes = readdirSync(directory.path).map((name) => statSync(join(directory.path, name)).mode & 0o777);
  expect(modes).toEqual(modes.map(() => 0o600));
});
