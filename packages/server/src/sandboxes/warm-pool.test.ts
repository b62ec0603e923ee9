import { expect, onTestFinished, test } from "vitest";
import { silentLogger } from "../lib/logger.ts";
import { fleetSpec, openFleetBench } from "./testing/fleet-bench.ts";
import { WarmPool } from "./warm-pool.ts";

/** A pool that makes its sandboxes `w1`, `w2` and so on, at once. */
async function openPoolBench(size: number, prepare = (_bench: FleetBench): void => {}) {
  const bench = await openFleetBench();
  prepare(bench);
  let count = 0;
  const pool = new WarmPool({
    fleet: bench.fleet,
    size,
    order: () => ({ backend: "table", spec: fleetSpec(`w${(count += 1)}`) }),
    logger: silentLogger,
    times: { restMs: 0, afterFailureMs: 3_600_000 },
  });
  onTestFinished(() => pool[Symbol.asyncDispose]());
  /** `id owner` of those that run. */
  const running = async (): Promise<string[]> => {
    const rows = (await bench.fleet.list()).filter(({ status }) => status === "RUNNING");
    return rows.map(({ id, ownerId }) => `${id} ${ownerId}`).toSorted();
  };
  const made = (): number => count;
  return { bench, pool, running, made };
}

/** Only the first one comes to its end. */
const onlyFirst = ({ backend }: FleetBench): void => {
  backend.duringStart = ({ spec }) => (spec.id === "w1" ? Promise.resolve() : new Promise(() => {}));
};

type FleetBench = Awaited<ReturnType<typeof openFleetBench>>;

test("as many as it is told are kept ready, and another one is made for each that is taken", async () => {
  const { bench, pool, running } = await openPoolBench(2);
  await expect.poll(running).toEqual(["w1 null", "w2 null"]);
  await expect.poll(() => pool.take()).toBe("w1");
  expect(pool.redeem("w1")).toBe(true);
  expect(await bench.fleet.give("w1", "ada")).toMatchObject({ id: "w1", ownerId: "ada", status: "RUNNING" });
  await expect.poll(running).toEqual(["w1 ada", "w2 null", "w3 null"]);
  expect(bench.fleet.ownerOf("w1")).toBe("ada");
});

test("each is taken once, given once, and never to a second owner", async () => {
  const { bench, pool } = await openPoolBench(1, onlyFirst);
  await expect.poll(() => pool.take()).toBe("w1");
  expect([pool.take(), pool.redeem("w2"), pool.redeem("w1"), pool.redeem("w1")]).toEqual([
    null,
    false,
    true,
    false,
  ]);
  await bench.fleet.give("w1", "ada");
  await expect(bench.fleet.give("w1", "bob")).rejects.toThrow("cannot be given");
  pool.putBack("w1");
  await bench.fleet.delete("w1");
  expect(pool.take()).toBe(null);
});

test("one that was taken and not needed is there for the next", async () => {
  const { pool } = await openPoolBench(1, onlyFirst);
  await expect.poll(() => pool.take()).toBe("w1");
  pool.putBack("w1");
  expect(pool.take()).toBe("w1");
});

test("one that has ended is started again for its owner, and is not taken while it is known to have ended", async () => {
  const { bench, pool, running } = await openPoolBench(2);
  await expect.poll(running).toEqual(["w1 null", "w2 null"]);
  await expect.poll(() => pool.take()).toBe("w1");
  pool.redeem("w1");
  bench.backend.table.set("w1", { ...bench.backend.table.get("w1")!, state: "stopped" });
  expect(await bench.fleet.give("w1", "ada")).toMatchObject({ ownerId: "ada", status: "RUNNING" });
  expect(bench.backend.table.get("w1")?.state).toBe("running");
  await bench.fleet.pause("w2");
  await expect.poll(() => pool.take()).toBe("w3");
  await expect.poll(() => bench.fleet.get("w2")).toBe(null);
});

test("what does not start is removed and not tried again at once", async () => {
  const { bench, pool, made } = await openPoolBench(1, ({ backend }) => {
    backend.duringStart = () => Promise.reject(new Error("no room"));
  });
  await expect.poll(made).toBe(1);
  await expect.poll(() => bench.fleet.list()).toEqual([]);
  expect([pool.take(), [...bench.backend.table]]).toEqual([null, []]);
});

test("P25: a server that was killed leaves none behind; those that were given live on", async () => {
  const { bench, pool, running } = await openPoolBench(2);
  await expect.poll(running).toEqual(["w1 null", "w2 null"]);
  await expect.poll(() => pool.take()).toBe("w1");
  pool.redeem("w1");
  await bench.fleet.give("w1", "ada");
  await pool[Symbol.asyncDispose]();
  await bench.fleet.create({ ownerId: null, backend: "table", spec: fleetSpec("left") });
  await bench.fleet.settled("left");
  await bench.crash();
  expect((await bench.fleet.list()).map(({ id, ownerId }) => [id, ownerId])).toEqual([["w1", "ada"]]);
  expect([...bench.backend.table.keys()]).toEqual(["w1"]);
});

test("closing it ends those that nobody was given, also one that is just being made", async () => {
  const { bench, pool, made } = await openPoolBench(1, ({ backend }) => {
    backend.duringStart = () => new Promise(() => {});
  });
  await expect.poll(made).toBe(1);
  await expect.poll(() => bench.backend.table.size).toBe(1);
  await pool[Symbol.asyncDispose]();
  expect([await bench.fleet.list(), [...bench.backend.table]]).toEqual([[], []]);
});

test("closing it ends one that is not even written down yet", async () => {
  const { fleet } = await openFleetBench();
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const pool = new WarmPool({
    fleet: {
      create: async (order) => {
        begun.resolve();
        await gate.promise;
        return fleet.create(order);
      },
      settled: (id) => fleet.settled(id),
      statusOf: (id) => fleet.statusOf(id),
      toolHost: (id) => fleet.toolHost(id),
      delete: (id) => fleet.delete(id),
    },
    size: 1,
    order: () => ({ backend: "table", spec: fleetSpec("w1") }),
    logger: silentLogger,
    times: { restMs: 0 },
  });
  await begun.promise;
  const closing = pool[Symbol.asyncDispose]();
  gate.resolve();
  await closing;
  expect(await fleet.list()).toEqual([]);
});
