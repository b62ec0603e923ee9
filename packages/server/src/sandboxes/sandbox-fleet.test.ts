import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { DatabaseUnavailableError } from "../lib/database-unavailable.ts";
import type { SandboxRow } from "./sandbox-store.ts";
import { openSqliteSandboxStore, SandboxesHeldError } from "./sqlite-sandbox-store.ts";
import { fleetSpec, openFleetBench, secretBox } from "./testing/fleet-bench.ts";

test("a sandbox is written down before it is started, and runs", async () => {
  const bench = await openFleetBench();
  bench.backend.duringStart = async () => {
    expect((await bench.fleet.list()).map(({ status }) => status)).toEqual(["STARTING"]);
  };
  expect(await bench.create()).toMatchObject({ id: "one", status: "STARTING", ownerId: "user" });
  expect(await bench.fleet.settled("one")).toMatchObject({ status: "RUNNING", statusDetail: null });
});

test("P22: a start has news again and again while it lasts, and its phase is in the row", async () => {
  const bench = await openFleetBench({ newsEveryMs: 5 });
  const gate = Promise.withResolvers<void>();
  bench.backend.duringStart = () => gate.promise;
  await bench.create();
  await expect.poll(() => bench.news.length).toBeGreaterThan(3);
  expect(bench.news.at(-1)).toMatchObject({ phase: "launching" });
  expect((await bench.fleet.get("one"))?.statusDetail).toMatch(/^launching \(\d+ s\)$/);
  gate.resolve();
  await bench.fleet.settled("one");
});

test("P23: a start that takes too long ends in ERROR with the reason, and can be resumed", async () => {
  const bench = await openFleetBench({ startDeadlineMs: 20 });
  bench.backend.duringStart = () => new Promise(() => {});
  await bench.create();
  const row = await bench.fleet.settled("one");
  expect(row?.status).toBe("ERROR");
  expect(row?.statusDetail).toContain("did not start in 0.02 seconds; it was launching");
  bench.backend.duringStart = async () => {};
  await bench.fleet.resume("one");
  expect((await bench.fleet.get("one"))?.status).toBe("RUNNING");
});

test("P23: a sandbox that stands though nobody answered whether it does is started by whoever needs it, and can be deleted", async () => {
  const bench = await openFleetBench();
  const insert = bench.store.insert.bind(bench.store);
  bench.store.insert = async (row) => {
    await insert(row);
    throw new DatabaseUnavailableError("The line broke behind the commit");
  };
  await expect(bench.create("one")).rejects.toThrow(DatabaseUnavailableError);
  await expect(bench.create("two")).rejects.toThrow(DatabaseUnavailableError);
  expect((await bench.fleet.settled("one"))?.status).toBe("ERROR");
  await bench.fleet.handle("one");
  expect((await bench.fleet.get("one"))?.status).toBe("RUNNING");
  await bench.fleet.delete("two");
  expect((await bench.fleet.list()).map(({ id }) => id)).toEqual(["one"]);
});

test("P23: a sandbox that was not written down and not answered for is forgotten with the next look", async () => {
  const bench = await openFleetBench();
  const insert = bench.store.insert.bind(bench.store);
  bench.store.insert = () => Promise.reject(new DatabaseUnavailableError("The line broke before the commit"));
  await expect(bench.create()).rejects.toThrow(DatabaseUnavailableError);
  await bench.fleet.reconcile();
  expect(bench.fleet.ownerOf("one")).toBe(null);
  bench.store.insert = insert;
  await bench.create();
  expect((await bench.fleet.settled("one"))?.status).toBe("RUNNING");
});

test("pause and resume are idempotent and show in the row", async () => {
  const bench = await openFleetBench();
  await bench.create();
  for (let round = 0; round < 2; round++) {
    await bench.fleet.pause("one");
    await bench.fleet.pause("one");
    expect((await bench.fleet.get("one"))?.status).toBe("PAUSED");
    await expect(bench.fleet.toolHost("one")).rejects.toThrow("PAUSED");
    await bench.fleet.resume("one");
    await bench.fleet.resume("one");
    expect((await bench.fleet.get("one"))?.status).toBe("RUNNING");
  }
});

test.each(["starting", "running", "paused", "error", "after a crash"])(
  "P23: a sandbox that is %s can be deleted, twice, and nothing is left",
  async (state) => {
    const bench = await openFleetBench();
    if (state === "starting") bench.backend.duringStart = () => new Promise(() => {});
    if (state === "error") bench.backend.duringStart = () => Promise.reject(new Error("broken"));
    await bench.create();
    if (state !== "starting") await bench.fleet.settled("one");
    if (state === "paused") await bench.fleet.pause("one");
    if (state === "after a crash") await bench.crash();
    await bench.fleet.delete("one");
    await bench.fleet.delete("one");
    expect(await bench.fleet.list()).toEqual([]);
    expect([...bench.backend.table]).toEqual([]);
  },
);

test("P23: a removal that fails says why, and works when it is asked again", async () => {
  const bench = await openFleetBench();
  await bench.create();
  bench.backend.duringRemove = () => Promise.reject(new Error("device busy"));
  await expect(bench.fleet.delete("one")).rejects.toThrow("device busy");
  expect(await bench.fleet.get("one")).toMatchObject({
    status: "ERROR",
    statusDetail: "It could not be deleted: device busy",
  });
  bench.backend.duringRemove = async () => {};
  await bench.fleet.delete("one");
  expect(await bench.fleet.list()).toEqual([]);
});

test("hardening 11: logs are bounded every half second, also while a round takes its time", async () => {
  const bench = await openFleetBench({ checkEveryMs: 5 });
  await bench.create();
  await bench.fleet.settled("one");
  let times = 0;
  bench.backend.boundLog = async () => {
    times += 1;
    if (times === 1) throw new Error("the disk is unavailable");
  };
  await expect.poll(() => times, { timeout: 10_000 }).toBeGreaterThan(2);
});

test("P25: a removal that failed is tried again in every round", async () => {
  const bench = await openFleetBench({ reconcileEveryMs: 5 });
  await bench.create();
  await bench.fleet.settled("one");
  let isBusy = true;
  bench.backend.duringRemove = async () => {
    if (isBusy) throw new Error("device busy");
  };
  await expect(bench.fleet.delete("one")).rejects.toThrow("device busy");
  isBusy = false;
  await expect.poll(() => bench.fleet.list()).toEqual([]);
  expect([...bench.backend.table]).toEqual([]);
});

test("a removal that a crash interrupted is finished by the next server", async () => {
  const bench = await openFleetBench();
  await bench.create();
  await bench.fleet.settled("one");
  bench.backend.duringRemove = () => Promise.reject(new Error("killed"));
  await expect(bench.fleet.delete("one")).rejects.toThrow();
  await bench.crash();
  expect(await bench.fleet.list()).toEqual([]);
  expect([...bench.backend.table]).toEqual([]);
});

test("after a crash every sandbox is in the state it is really in", async () => {
  const bench = await openFleetBench();
  for (const id of ["runs", "paused", "died"]) await bench.create(id);
  for (const id of ["runs", "paused", "died"]) await bench.fleet.settled(id);
  await bench.fleet.pause("paused");
  bench.backend.table.set("died", { ...bench.backend.table.get("died")!, state: "stopped" });
  bench.backend.duringStart = () => new Promise(() => {});
  await bench.create("began");
  await bench.crash();
  const rows = Object.fromEntries((await bench.fleet.list()).map((row) => [row.id, row.status]));
  expect(rows).toEqual({ runs: "RUNNING", paused: "PAUSED", died: "ERROR", began: "ERROR" });
  expect((await bench.fleet.get("began"))?.statusDetail).toContain("while the sandbox started");
  await bench.fleet.resume("died");
  expect((await bench.fleet.get("died"))?.status).toBe("RUNNING");
});

test("F4: a sandbox that ended with the machine is started again by whoever needs it first", async () => {
  const bench = await openFleetBench();
  for (const id of ["gone", "stopped"]) {
    await bench.create(id);
    await bench.fleet.settled(id);
  }
  bench.backend.table.delete("gone");
  bench.backend.table.set("stopped", { ...bench.backend.table.get("stopped")!, state: "stopped" });
  await bench.crash();
  const status = async (id: string) => (await bench.fleet.get(id))?.status;
  for (const id of ["gone", "stopped"]) {
    expect(await status(id)).toBe("ERROR");
    await Promise.all([bench.fleet.handle(id), bench.fleet.handle(id)]);
    expect(await status(id)).toBe("RUNNING");
    expect(bench.backend.table.get(id)?.state).toBe("running");
  }
});

test("P25: what belongs to no sandbox is removed at boot and in every round, what belongs to one never", async () => {
  const bench = await openFleetBench({ reconcileEveryMs: 5 });
  await bench.create();
  await bench.fleet.settled("one");
  bench.backend.table.set("stray", { state: "running", key: "" });
  await expect.poll(() => [...bench.backend.table.keys()]).toEqual(["one"]);
});

test("P25: after 500 crashes in the middle of starts nothing is left without an owner", async () => {
  const bench = await openFleetBench();
  for (let round = 0; round < 500; round++)
    bench.backend.table.set(`stray-${round}`, { state: "stopped", key: "" });
  await bench.crash();
  expect([...bench.backend.table]).toEqual([]);
});

test("P23: a sandbox that ends or stops answering is started again once, then it is in ERROR with the reason", async () => {
  const bench = await openFleetBench();
  await bench.create();
  await bench.fleet.settled("one");
  const set = (state: "silent" | "stopped" | "running"): void =>
    void bench.backend.table.set("one", { ...bench.backend.table.get("one")!, state });
  const statusOf = async () => {
    await bench.fleet.check();
    return `${(await bench.fleet.get("one"))?.status} ${bench.backend.table.get("one")?.state}`;
  };
  set("silent");
  expect([await statusOf(), await statusOf(), await statusOf()]).toEqual([
    "RUNNING silent",
    "RUNNING silent",
    "RUNNING running",
  ]);
  set("stopped");
  expect(await statusOf()).toBe("ERROR stopped");
  expect((await bench.fleet.get("one"))?.statusDetail).toBe("the tool host has ended");
  await bench.fleet.resume("one");
  expect(await statusOf()).toBe("RUNNING running");
});

test("P23: what cannot be started again is in ERROR with the reason of that", async () => {
  const bench = await openFleetBench();
  await bench.create();
  await bench.fleet.settled("one");
  bench.backend.duringStart = () => Promise.reject(new Error("the disk is full"));
  bench.backend.table.set("one", { ...bench.backend.table.get("one")!, state: "stopped" });
  await bench.fleet.check();
  expect(await bench.fleet.get("one")).toMatchObject({ status: "ERROR", statusDetail: "the disk is full" });
});

test("P13: keys are stored sealed", async () => {
  const bench = await openFleetBench();
  await bench.create();
  await bench.fleet.settled("one");
  const { key } = bench.backend.table.get("one")!;
  const row = await bench.store.get("one");
  expect(JSON.stringify(row)).not.toContain(key);
  const ofFleet = (["session", "ports"] as const).map((purpose) => bench.fleet.keyOf("one", purpose));
  const keys = [key, ...ofFleet, secretBox.unseal(row!.sealedKey)];
  expect(new Set(keys).size).toBe(4);
  await bench.crash();
  expect(bench.fleet.keyOf("one", "session")).toBe(keys[1]);
  expect(bench.fleet.keyOf("two", "session")).toBe(null);
});

test("two changes of one sandbox that are made together are both kept", async () => {
  const bench = await openFleetBench();
  await bench.create();
  await bench.fleet.settled("one");
  await Promise.all([
    bench.store.update("one", { wish: "deleted" }),
    bench.store.update("one", { statusDetail: "being looked at" }),
  ]);
  expect(await bench.store.get("one")).toMatchObject({ wish: "deleted", statusDetail: "being looked at" });
});

test("two servers on one data folder do not look after the same sandboxes", async () => {
  const bench = await openFleetBench();
  await bench.create();
  await bench.fleet.settled("one");
  const { file } = bench;
  expect(() => openSqliteSandboxStore(file)).toThrow(SandboxesHeldError);
  await bench.fleet[Symbol.asyncDispose]();
  await using next = openSqliteSandboxStore(file);
  expect(await next.list()).toMatchObject([{ id: "one" }]);
});

test("F16: a store is read while a server has it, and a copy of it looks after the files beside it and no processes", async () => {
  const dir = await mkdtemp(join(tmpdir(), "convoke-fleet-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  for (const name of ["old", "new"])
    await mkdir(join(dir, name, "sandboxes/one/workspace"), { recursive: true });
  const there = (name: string): string => join(dir, name, "sandboxes/one/workspace");
  const row: SandboxRow = {
    id: "one",
    ownerId: "user",
    backend: "table",
    spec: { ...fleetSpec("one"), workspaceDir: there("old") },
    status: "RUNNING",
    statusDetail: null,
    wish: "running",
    record: { backend: "table", id: "one" },
    sealedKey: "sealed",
    createdAtMs: 1,
  };
  await using first = openSqliteSandboxStore(join(dir, "old/sandboxes.sqlite"));
  await first.insert(row);
  using reader = new DatabaseSync(join(dir, "old/sandboxes.sqlite"), { readOnly: true, timeout: 0 });
  reader.prepare("VACUUM INTO ?").run(join(dir, "new/sandboxes.sqlite"));
  await using copy = openSqliteSandboxStore(join(dir, "new/sandboxes.sqlite"));
  expect(await copy.get("one")).toEqual({
    ...row,
    spec: { ...row.spec, workspaceDir: there("new") },
    record: null,
  });
  await first[Symbol.asyncDispose]();
  // The same folder by another name is no copy.
  await symlink(join(dir, "old"), join(dir, "alias"));
  await using same = openSqliteSandboxStore(join(dir, "alias/sandboxes.sqlite"));
  expect(await same.get("one")).toEqual(row);
});

test("an id that could not name files, an unknown backend and an unknown sandbox are refused", async () => {
  const bench = await openFleetBench();
  for (const id of ["", "../x", "UP", "a".repeat(41), "a/b"]) {
    await expect(bench.create(id)).rejects.toMatchObject({ name: "SandboxError" });
  }
  await expect(
    bench.fleet.create({ ownerId: "user", backend: "cloud", spec: fleetSpec("one") }),
  ).rejects.toMatchObject({ name: "SandboxError" });
  await expect(bench.fleet.pause("none")).rejects.toMatchObject({ code: "sandbox_not_found" });
});
