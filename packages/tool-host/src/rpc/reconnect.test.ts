import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { ExecuteOptions, Outcome, ToolSession } from "../host.ts";
import { openServedBench } from "../testing/served-host.ts";
import type { ServedBenchOptions } from "../testing/served-host.ts";
import { startStopwatch } from "../testing/stopwatch.ts";

test("P6: 200 seeded cuts of the connection: every call has one outcome and nothing runs twice", async () => {
  const bench = await openBench();
  const session = await (await bench.connect()).openSession(bench.spec);
  const random = seededRandom(7);
  const names = Array.from({ length: 200 }, (_, index) => `call-${index}`);
  for (const [index, name] of names.entries()) {
    const tool = index % 3 === 0 ? "second_probe" : "probe";
    const calls = [run(session, name, `say:${name}`, { tool }), run(session, name, `say:${name}`, { tool })];
    // Before the request is sent, while it runs, while the answer travels, or after it.
    await sleep(random() * 5);
    bench.served.cutConnections();
    expect(await Promise.all(calls)).toEqual([textOutcome(name), textOutcome(name)]);
    expect(await session.state(name)).toEqual({ type: "finished", outcome: textOutcome(name) });
  }
  expect(await bench.runs()).toEqual(names);
}, 120_000);

test("a cut while a call runs: it goes on, its outcome and its later progress arrive", async () => {
  const bench = await openBench();
  const session = await (await bench.connect()).openSession(bench.spec);
  const held = run(session, "a", "hold:x");
  await bench.waitForRuns(["x"]);
  const seen: string[] = [];
  const waiting = run(session, "b", "progress:half", { onProgress: (text) => seen.push(text) });
  await session.state("b");
  bench.served.cutConnections();
  expect(await session.state("a")).toEqual({ type: "running" });
  await bench.release("x");
  expect(await Promise.all([held, waiting])).toEqual([textOutcome("x"), textOutcome("half")]);
  expect(seen).toEqual(["half", "half"]);
  expect(await bench.runs()).toEqual(["x", "half"]);
});

test("P6: a client that disconnected without closing finds its session and its call again", async () => {
  const bench = await openBench();
  const first = await bench.connect();
  const orphan = run(await first.openSession(bench.spec), "a", "hold:x");
  await bench.waitForRuns(["x"]);
  first.detach();
  expect(await orphan).toMatchObject({ type: "error", text: expect.stringContaining("unknown") });
  const second = await bench.connect();
  const session = await second.openSession(bench.spec);
  expect(await session.state("a")).toEqual({ type: "running" });
  await bench.release("x");
  expect(await run(session, "a", "hold:x")).toEqual(textOutcome("x"));
  expect(await bench.runs()).toEqual(["x"]);
});

test("an explicit close ends the session, with the holds of clients that never came back", async () => {
  const bench = await openBench();
  const first = await bench.connect();
  void run(await first.openSession(bench.spec), "a", "hold:x");
  await bench.waitForRuns(["x"]);
  first.detach();
  const session = await (await bench.connect()).openSession(bench.spec);
  const joined = run(session, "a", "hold:x");
  await session[Symbol.asyncDispose]();
  expect(await joined).toMatchObject({ type: "cancelled" });
});

test("two clients on one session see one execution; one of them leaving ends nothing", async () => {
  const bench = await openBench();
  const [one, two] = [await bench.connect(), await bench.connect()];
  const [first, second] = [await one.openSession(bench.spec), await two.openSession(bench.spec)];
  const calls = [run(first, "a", "hold:x"), run(second, "a", "hold:x")];
  await bench.waitForRuns(["x"]);
  await first[Symbol.asyncDispose]();
  expect(await second.state("a")).toEqual({ type: "running" });
  await bench.release("x");
  expect(await Promise.all(calls)).toEqual([textOutcome("x"), textOutcome("x")]);
  expect(await bench.runs()).toEqual(["x"]);
});

test("P6: a host that was replaced while a call ran: the outcome is unknown, the next call works", async () => {
  const bench = await openBench();
  const session = await (await bench.connect()).openSession(bench.spec);
  const held = run(session, "a", "hold:x");
  await bench.waitForRuns(["x"]);
  await bench.serve({ keepsHost: false });
  expect(await held).toMatchObject({ type: "error", text: expect.stringMatching(/restarted.*unknown/) });
  expect(await session.state("a")).toEqual({ type: "lost" });
  expect(await run(session, "b", "say:next")).toEqual(textOutcome("next"));
  expect(await bench.runs()).toEqual(["x", "next"]);
});

test("P6: a host that came back without its records runs nothing again", async () => {
  const bench = await openBench();
  const session = await (await bench.connect()).openSession(bench.spec);
  const held = run(session, "a", "hold:x");
  await bench.waitForRuns(["x"]);
  await bench.served[Symbol.asyncDispose]();
  await rm(bench.spec.stateDir, { recursive: true });
  await bench.serve({ keepsHost: false });
  expect(await held).toMatchObject({ type: "error", text: expect.stringContaining("without the record") });
  expect(await bench.runs()).toEqual(["x"]);
});

test("a host that stays unavailable: calls end with an error, state rejects, and everything works when it is back", async () => {
  const bench = await openBench();
  const remote = await bench.connect({ unavailableMs: 100 });
  const session = await remote.openSession(bench.spec);
  const held = run(session, "a", "hold:x");
  await bench.waitForRuns(["x"]);
  await bench.served[Symbol.asyncDispose]();
  expect(await held).toMatchObject({
    type: "error",
    text: expect.stringMatching(/unavailable for .*unknown/),
  });
  expect(await run(session, "b", "say:b")).toMatchObject({
    type: "error",
    text: expect.stringContaining("was not run"),
  });
  await expect(session.state("a")).rejects.toThrow("unavailable");
  await expect(session.cancel("a")).rejects.toThrow("unavailable");
  await expect(remote.openSession(bench.spec)).rejects.toThrow("unavailable");
  await bench.serve({ keepsHost: true });
  expect(await session.state("a")).toEqual({ type: "running" });
  await bench.release("x");
  expect(await run(session, "a", "hold:x")).toEqual(textOutcome("x"));
  expect(await bench.runs()).toEqual(["x"]);
});

test("P43: an abort while the host is unavailable does not wait for it, and still stops the call when it is back", async () => {
  const bench = await openBench();
  const session = await (await bench.connect()).openSession(bench.spec);
  const controller = new AbortController();
  const held = run(session, "a", "hold:x", { signal: controller.signal });
  await bench.waitForRuns(["x"]);
  await bench.served[Symbol.asyncDispose]();
  using stopwatch = startStopwatch();
  controller.abort();
  expect(await held).toMatchObject({
    type: "cancelled",
    text: expect.stringContaining("could not be reached"),
  });
  expect(stopwatch.elapsedMs()).toBeLessThan(20_000);
  await bench.serve({ keepsHost: true });
  await expect
    .poll(async () => session.state("a"))
    .toMatchObject({ type: "finished", outcome: { type: "cancelled" } });
});

test("a socket file of a killed host is replaced, a living host's is not", async () => {
  const bench = await openBench();
  await expect(openServedBench({ listen: () => ({ socket: join(bench.dir, "host.sock") }) })).rejects.toThrow(
    "listens",
  );
  await bench.served[Symbol.asyncDispose]();
  await writeFile(join(bench.dir, "host.sock"), "a file");
  await expect(bench.serve({ keepsHost: true })).rejects.toThrow("cannot be used");
});

async function openBench(options: ServedBenchOptions = {}) {
  const bench = await openServedBench(options);
  onTestFinished(async () => bench[Symbol.asyncDispose]());
  const { workspaceDir } = bench.spec;
  const runs = async (): Promise<string[]> =>
    (await readFile(join(workspaceDir, "runs.log"), "utf8")).split("\n").slice(0, -1);
  return Object.assign(Object.create(bench) as typeof bench, {
    runs,
    waitForRuns: async (names: readonly string[]) =>
      expect.poll(() => runs().catch(() => []), { interval: 2 }).toEqual(names),
    release: async (name: string) => writeFile(join(workspaceDir, `${name}.go`), ""),
  });
}

async function run(
  session: ToolSession,
  actionId: string,
  thought: string,
  { tool = "probe", ...options }: ExecuteOptions & { readonly tool?: string } = {},
): Promise<Outcome> {
  const action = { kind: "ThinkAction", thought } as const;
  return session.execute({ actionId, tool, action, secrets: [] }, options);
}

function textOutcome(text: string): Outcome {
  const content = [{ cache_prompt: false, type: "text" as const, text }];
  return { type: "observation", observation: { kind: "ThinkObservation", content, is_error: false } };
}

/** Numbers from 0 to 1, the same in every run. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
