import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Action } from "@convoke/protocol";
import { expect, onTestFinished, test } from "vitest";
import { describeToolHost } from "./contract.ts";
import type { ExecuteOptions } from "./host.ts";
import { createInProcessHost } from "./in-process-host.ts";
import { PendingMarks } from "./pending-marks.ts";
import { probeTools } from "./testing/probe-tools.ts";
import { openTemporaryDirectory } from "./testing/temporary-directory.ts";
import type { Tool } from "./tool.ts";
import { textPart } from "./tools/observation-content.ts";
import { thinkTool } from "./tools/think.ts";

describeToolHost("in-process host", async () => {
  const host = createInProcessHost({ tools: probeTools, environment: {}, cancelGraceMs: 50 });
  return { host, crash: async () => {} };
});

test("P6: the start is on the disk before the tool runs, the outcome before execute resolves", async () => {
  const records: unknown[] = [];
  const bench = await openSession({ onExecute: () => records.push(...readRecords(bench.journal)) });
  await bench.execute("a");
  records.push(...readRecords(bench.journal));
  const begun = { action_id: "a", tool: "think", started: 1 };
  expect(records).toEqual([
    { ...begun, ended: 0, outcome: null },
    { ...begun, ended: 1, outcome: expect.stringContaining("ThinkObservation") },
  ]);
});

test("read-only tools need no disk", async () => {
  const bench = await openSession({ isReadOnly: true });
  bench.session.announce?.("a", "think");
  expect(await bench.execute("a")).toMatchObject({ type: "observation" });
  expect(existsSync(bench.journal)).toBe(false);
});

test.runIf(PendingMarks.open() !== null)(
  "P6: an announced call is recorded and not started; executing it starts it once",
  async () => {
    let count = 0;
    const bench = await openSession({ onExecute: () => (count += 1) });
    const { session } = bench;
    session.announce?.("a", "think");
    session.announce?.("b", "unknown");
    expect(readRecords(bench.journal)).toMatchObject([{ action_id: "a", started: null, ended: 0 }]);
    expect(await session.state("a")).toEqual({ type: "unknown" });
    const [outcome, again] = await Promise.all([bench.execute("a"), bench.execute("a")]);
    expect(again).toEqual(outcome);
    expect(outcome).toMatchObject({ type: "observation" });
    expect(count).toBe(1);
    expect(readRecords(bench.journal)).toMatchObject([{ action_id: "a", started: 1, ended: 1 }]);
  },
);

test("P7: when the start cannot be recorded, the tool does not run and the outcome says why", async () => {
  let count = 0;
  const bench = await openSession({ onExecute: () => (count += 1) });
  await mkdir(bench.journal);
  bench.session.announce?.("a", "think");
  expect(await bench.execute("a")).toMatchObject({
    type: "error",
    text: expect.stringContaining(bench.journal),
  });
  expect(count).toBe(0);
});

test("P7: when only the outcome cannot be recorded, it is still the outcome, and a warning is given", async () => {
  const bench = await openSession({ onExecute: () => dropTable(bench.journal) });
  expect(await bench.execute("a")).toMatchObject({ type: "observation" });
  expect(bench.warnings).toEqual([expect.stringContaining(bench.journal)]);
});

test("P7: outcomes that could not be recorded are remembered whatever their size, and nothing runs twice", async () => {
  const size = 200_000;
  const begun: string[] = [];
  const bothBegan = Promise.withResolvers<void>();
  const bench = await openSession({
    onExecute: async (actionId) => {
      begun.push(actionId);
      if (begun.length === 2) {
        dropTable(bench.journal);
        bothBegan.resolve();
      }
      await bothBegan.promise;
    },
    contentText: "x".repeat(size),
  });
  // Calls of one tool run one after the other, so the second one was not even started.
  const outcomes = await Promise.all([bench.execute("a"), bench.execute("b", {}, "also_think")]);
  expect(bench.warnings).toHaveLength(2);
  for (const outcome of outcomes) expect(JSON.stringify(outcome).length).toBeGreaterThan(size);
  expect(await bench.execute("a")).toEqual(outcomes[0]);
  expect(await bench.execute("b", {}, "also_think")).toEqual(outcomes[1]);
  expect(begun.sort()).toEqual(["a", "b"]);
});

test("P6: the caller's wait comes between the record and the tool, which never starts when the call is stopped meanwhile", async () => {
  const seen: unknown[] = [];
  const bench = await openSession({ onExecute: () => seen.push("started") });
  await bench.execute("a", {
    beforeStart: async () => void seen.push(...readRecords(bench.journal)),
  });
  expect(seen).toEqual([{ action_id: "a", tool: "think", started: 1, ended: 0, outcome: null }, "started"]);

  const stop = new AbortController();
  const waiting = Promise.withResolvers<void>();
  const stopped = bench.execute("b", {
    signal: stop.signal,
    beforeStart: async (signal) => {
      waiting.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  });
  await waiting.promise;
  stop.abort();
  expect(await stopped).toMatchObject({ type: "cancelled" });
  expect(seen).toHaveLength(2);
});

test("a closed host opens no session, and closing it twice is fine", async () => {
  const host = createInProcessHost({ tools: [], environment: {} });
  await host[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
  await using directory = await openTemporaryDirectory();
  const spec = { sessionId: "s", workspaceDir: directory.path, stateDir: directory.path, tools: [] };
  await expect(host.openSession(spec)).rejects.toThrow("closed");
});

type BenchOptions = {
  readonly onExecute?: (actionId: string) => unknown;
  readonly isReadOnly?: boolean;
  /** Replaces the text of the tool's observation. */
  readonly contentText?: string;
};

async function openSession(options: BenchOptions) {
  const directory = await openTemporaryDirectory();
  const warnings: string[] = [];
  const tool: Tool = {
    ...thinkTool,
    isReadOnly: options.isReadOnly ?? false,
    open: async (context) => {
      const instance = await thinkTool.open(context);
      return {
        execute: async (action, call) => {
          await options.onExecute?.(call.actionId);
          const observation = await instance.execute(action, call);
          const { contentText } = options;
          return contentText === undefined
            ? observation
            : { ...observation, content: [textPart(contentText)] };
        },
        [Symbol.asyncDispose]: async () => instance[Symbol.asyncDispose](),
      };
    },
  };
  const host = createInProcessHost({
    tools: [tool, { ...tool, name: "also_think" }],
    environment: {},
    onWarning: (text) => warnings.push(text),
  });
  onTestFinished(async () => {
    await host[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });
  const stateDir = join(directory.path, "state");
  const tools = [{ name: "think" }, { name: "also_think" }];
  const session = await host.openSession({ sessionId: "s", workspaceDir: directory.path, stateDir, tools });
  const action: Action = { kind: "ThinkAction", thought: "hm" };
  return {
    session,
    warnings,
    journal: join(stateDir, "executions.sqlite"),
    execute: async (actionId: string, how: ExecuteOptions = {}, tool = "think") =>
      session.execute({ actionId, tool, action, secrets: [] }, how),
  };
}

function readRecords(path: string): unknown[] {
  using database = new DatabaseSync(path, { readOnly: true });
  const sql =
    "SELECT action_id, tool, started_at_ms > 0 AS started, coalesce(ended_at_ms, 0) > 0 AS ended, outcome FROM executions";
  return database
    .prepare(sql)
    .all()
    .map((row) => ({ ...row }));
}

function dropTable(path: string): void {
  using database = new DatabaseSync(path);
  database.exec("DROP TABLE executions");
}
