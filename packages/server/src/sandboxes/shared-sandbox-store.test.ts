import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { openTestDatabase, testedStore } from "../testing/test-database.ts";
import { fleetSpec } from "./testing/fleet-bench.ts";
import type { SandboxRow, SandboxStore } from "./sandbox-store.ts";
import { SharedSandboxes } from "./shared-sandbox-store.ts";
import { openSqliteSandboxStore } from "./sqlite-sandbox-store.ts";

/** Two servers on one database, each with a machine of its own. */
async function openTwo(): Promise<
  { readonly one: SharedSandboxes; readonly other: SharedSandboxes } & AsyncDisposable
> {
  await using scope = new AsyncDisposableStack();
  const folder = scope.use(await openTemporaryDirectory());
  const one = scope.use(await openTestDatabase(folder.path));
  const other = scope.use(await openTestDatabase(folder.path));
  const owned = scope.move();
  return {
    one: new SharedSandboxes(one),
    other: new SharedSandboxes(other),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const rowOf = (id: string, createdAtMs = 5): SandboxRow => ({
  id,
  ownerId: "ada",
  backend: "table",
  spec: fleetSpec(id),
  status: "STARTING",
  statusDetail: null,
  wish: "running",
  record: null,
  sealedKey: "sealed",
  createdAtMs,
});

async function checkStore(store: SandboxStore): Promise<void> {
  await store.insert(rowOf("a", 5));
  await store.insert({ ...rowOf("c", 7), ownerId: null });
  await store.insert(rowOf("b", 7));
  await expect(store.insert(rowOf("a"))).rejects.toThrow();
  expect((await store.list()).map(({ id }) => id)).toEqual(["c", "b", "a"]);
  const record = { backend: "table", id: "a", roots: [1, "two"] };
  await store.update("a", { status: "RUNNING", record });
  await store.update("a", { statusDetail: "why" });
  await store.update("a", {});
  await store.update("c", { ownerId: "bob", createdAtMs: 9 });
  await store.update("none", { status: "ERROR" });
  expect(await store.get("a")).toEqual({ ...rowOf("a"), status: "RUNNING", record, statusDetail: "why" });
  await store.update("a", { record: null, statusDetail: null, wish: "paused", sealedKey: "again" });
  expect(await store.get("a")).toEqual({
    ...rowOf("a"),
    status: "RUNNING",
    wish: "paused",
    sealedKey: "again",
  });
  expect(await store.get("c")).toEqual({ ...rowOf("c", 9), ownerId: "bob" });
  await store.remove("b");
  await store.remove("b");
  expect(await store.get("b")).toBeNull();
  expect((await store.list()).map(({ id }) => id)).toEqual(["c", "a"]);
}

test("a store keeps what it is given, and changes what it is told to", async () => {
  await using both = await openTwo();
  await checkStore(both.one.ofMachine("attic"));
  await using inFolder = openSqliteSandboxStore(":memory:");
  await checkStore(inFolder);
});

test("each machine has its own, and every server finds those of all", async () => {
  await using both = await openTwo();
  const attic = both.one.ofMachine("attic");
  const cellar = both.other.ofMachine("cellar");
  await attic.insert(rowOf("up", 5));
  await cellar.insert(rowOf("down", 6));
  expect(await cellar.get("up")).toBeNull();
  await cellar.update("up", { status: "ERROR" });
  await cellar.remove("up");
  expect((await cellar.list()).map(({ id }) => id)).toEqual(["down"]);
  await expect(cellar.insert(rowOf("up"))).rejects.toThrow();
  for (const side of [both.one, both.other]) {
    const found = await side.find(["up", "none", "down"]);
    expect(new Map(found.map(({ row, machine }) => [row.id, machine]))).toEqual(
      new Map([
        ["up", "attic"],
        ["down", "cellar"],
      ]),
    );
    expect((await side.listOf("ada")).map(({ row }) => row.id)).toEqual(["down", "up"]);
    expect(await side.listOf("bob")).toEqual([]);
    expect(await side.find([])).toEqual([]);
  }
  expect((await attic.get("up"))?.status).toBe("STARTING");
});

test("a wish of another server stays, whatever is written of the sandbox meanwhile", async () => {
  await using both = await openTwo();
  const attic = both.one.ofMachine("attic");
  await attic.insert(rowOf("up"));
  await both.other.wishDeleted("up");
  await attic.update("up", { status: "RUNNING", statusDetail: null });
  expect(await attic.get("up")).toMatchObject({ wish: "deleted", status: "RUNNING" });
});

test("one that was given to nobody is forgotten; one that has an owner is not", async () => {
  await using both = await openTwo();
  const attic = both.one.ofMachine("attic");
  await attic.insert({ ...rowOf("ready"), ownerId: null });
  await attic.insert(rowOf("given"));
  for (const id of ["ready", "given"]) await both.other.dropUngiven(id);
  expect((await attic.list()).map(({ id }) => id)).toEqual(["given"]);
});

test("what says who serves a machine ends with its store", async () => {
  await using both = await openTwo();
  let isServed = true;
  const serving = { [Symbol.asyncDispose]: async () => void (isServed = false) };
  await both.one.ofMachine("attic", serving)[Symbol.asyncDispose]();
  expect(isServed, testedStore).toBe(false);
});
