import type { RemoteToolHost } from "@convoke/tool-host";
import { expect, onTestFinished, test, vi } from "vitest";
import { openFleetBench } from "./testing/fleet-bench.ts";
import type { TableBackend } from "./testing/table-backend.ts";

const never = (): Promise<never> => new Promise(() => {});

/** The documented times pass when the test says so. */
function holdTime(): void {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"],
  });
  onTestFinished(() => void vi.useRealTimers());
}

test("P22: a start that takes half a minute has news at least every 2 seconds", async () => {
  holdTime();
  const bench = await openFleetBench();
  bench.backend.startDeadlineMs = 60_000;
  bench.backend.duringStart = () => new Promise((resolve) => setTimeout(resolve, 30_000));
  await bench.create();
  await vi.advanceTimersByTimeAsync(30_000);
  expect((await bench.fleet.settled("one"))?.status).toBe("RUNNING");
  const newsMs = bench.news.map(({ elapsedMs }) => elapsedMs);
  for (let afterMs = 0; afterMs < 30_000; afterMs += 2_000)
    expect(newsMs.filter((ms) => ms >= afterMs && ms <= afterMs + 2_000)).not.toEqual([]);
});

test("P25: what belongs to no sandbox is gone 60 seconds later", async () => {
  holdTime();
  const bench = await openFleetBench();
  bench.backend.table.set("stray", { state: "running", key: "" });
  await vi.advanceTimersByTimeAsync(59_000);
  expect(bench.backend.table.has("stray")).toBe(true);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(bench.backend.table.has("stray")).toBe(false);
});

test("P23: a start that neither ends nor can be given up is in ERROR after its deadline, and can be deleted", async () => {
  const bench = await openFleetBench({ startDeadlineMs: 10, stepDeadlineMs: 10 });
  bench.backend.duringStart = never;
  bench.backend.isObedient = false;
  await bench.create();
  expect(await bench.fleet.settled("one")).toMatchObject({
    status: "ERROR",
    statusDetail: expect.stringContaining("did not start in 0.01 seconds; it was launching"),
  });
  await bench.fleet.delete("one");
  expect([await bench.fleet.list(), [...bench.backend.table]]).toEqual([[], []]);
});

test.each(["pause", "resume"] as const)(
  "P23: a %s that does not end is in ERROR after its deadline, and the sandbox can be resumed and deleted",
  async (step) => {
    const bench = await openFleetBench({ stepDeadlineMs: 10 });
    await bench.create();
    await bench.fleet.settled("one");
    if (step === "resume") await bench.fleet.pause("one");
    bench.backend.duringStep = never;
    await expect(bench.fleet[step]("one")).rejects.toThrow("took longer than 0.01 seconds");
    expect((await bench.fleet.get("one"))?.status).toBe("ERROR");
    bench.backend.duringStep = async () => {};
    await bench.fleet.resume("one");
    expect((await bench.fleet.get("one"))?.status).toBe("RUNNING");
    await Promise.all([bench.fleet.delete("one"), bench.fleet.delete("one")]);
    expect([await bench.fleet.list(), [...bench.backend.table]]).toEqual([[], []]);
  },
);

test("P23: a removal that does not end says so after its deadline, and works when it is asked again", async () => {
  const bench = await openFleetBench({ stepDeadlineMs: 10 });
  await bench.create();
  await bench.fleet.settled("one");
  bench.backend.duringRemove = never;
  await expect(bench.fleet.delete("one")).rejects.toThrow("took longer");
  expect((await bench.fleet.get("one"))?.statusDetail).toContain("could not be deleted");
  bench.backend.duringRemove = async () => {};
  await bench.fleet.delete("one");
  expect(await bench.fleet.list()).toEqual([]);
});

test("P23: a sandbox whose tool host is never reached says so after the deadline, and can be deleted meanwhile", async () => {
  const bench = await openFleetBench({ stepDeadlineMs: 10 });
  await bench.create();
  await bench.fleet.settled("one");
  const late = openLateHost(bench.backend);
  await expect(bench.fleet.toolHost("one")).rejects.toThrow("took longer than 0.01 seconds");
  const asked = bench.fleet.toolHost("one").catch(() => {});
  await expect.poll(() => late.counts().opened).toBe(2);
  await bench.fleet.delete("one");
  expect(await bench.fleet.list()).toEqual([]);
  await asked;
  late.arrive();
  await expect.poll(late.counts).toEqual({ opened: 2, detached: 2 });
});

test("a connection that is asked for while its sandbox is deleted does not outlive it", async () => {
  const bench = await openFleetBench();
  await bench.create();
  await bench.fleet.settled("one");
  const late = openLateHost(bench.backend);
  late.arrive();
  const checking = bench.fleet.check();
  const asked = bench.fleet.toolHost("one").catch(() => {});
  await Promise.all([checking, asked, bench.fleet.delete("one")]);
  const { opened, detached } = late.counts();
  expect(detached).toBe(opened);
});

/** Connections that are made when the test says so. */
function openLateHost(backend: TableBackend) {
  const arrival = Promise.withResolvers<void>();
  const counts = { opened: 0, detached: 0 };
  backend.connect = async () => {
    counts.opened += 1;
    await arrival.promise;
    return { detach: () => void (counts.detached += 1) } as RemoteToolHost;
  };
  return { arrive: arrival.resolve, counts: () => counts };
}

test("P23: a server starts while the engine of a sandbox does not answer, and finds the sandbox again when it does", async () => {
  const bench = await openFleetBench({ stepDeadlineMs: 10 });
  await bench.create();
  await bench.fleet.settled("one");
  await bench.crash((backend) => (backend.duringStep = never));
  expect((await bench.fleet.get("one"))?.status).toBe("ERROR");
  bench.backend.duringStep = async () => {};
  bench.backend.duringStart = () => Promise.reject(new Error("it runs already"));
  await bench.fleet.resume("one");
  expect((await bench.fleet.get("one"))?.status).toBe("RUNNING");
});

test("P23: a server starts while a sandbox that was deleted cannot be removed", async () => {
  const bench = await openFleetBench();
  await bench.create();
  await bench.fleet.settled("one");
  const refuse = (): Promise<never> => Promise.reject(new Error("device busy"));
  bench.backend.duringRemove = refuse;
  await expect(bench.fleet.delete("one")).rejects.toThrow("device busy");
  await bench.crash((backend) => (backend.duringRemove = refuse));
  expect((await bench.fleet.get("one"))?.statusDetail).toContain("device busy");
  bench.backend.duringRemove = async () => {};
  await bench.fleet.delete("one");
  expect(await bench.fleet.list()).toEqual([]);
});

test("P23: a sandbox of a backend that this server does not have is in ERROR with the reason, and can be deleted", async () => {
  const bench = await openFleetBench();
  await bench.create();
  await bench.fleet.settled("one");
  bench.isServed = false;
  await bench.crash();
  expect(await bench.fleet.get("one")).toMatchObject({
    status: "ERROR",
    statusDetail: "There are no table sandboxes here, only: other.",
  });
  await expect(bench.fleet.resume("one")).rejects.toThrow("no table sandboxes");
  await bench.fleet.delete("one");
  expect([await bench.fleet.list(), [...bench.backend.table]]).toEqual([[], []]);
});
