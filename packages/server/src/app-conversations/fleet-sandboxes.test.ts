import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLogger } from "../lib/logger.ts";
import { openSandboxFleet } from "../sandboxes/sandbox-fleet.ts";
import { createTestWays } from "../sandboxes/testing/test-ways.ts";
import {
  SandboxError,
  type SandboxBackend,
  type SandboxHandle,
  type SandboxHealth,
} from "../sandboxes/sandbox.ts";
import { openSqliteSandboxStore } from "../sandboxes/sqlite-sandbox-store.ts";
import { openSecretBox } from "../security/seal.ts";
import { FleetSandboxes, type FleetTemplate } from "./fleet-sandboxes.ts";
import type { Sandboxes } from "./sandbox-service.ts";

/** A backend whose sandboxes are entries of a map: the fleet above it is the real one. */
function mapBackend(name: string, states: Map<string, SandboxHealth["state"]>): SandboxBackend {
  return {
    name,
    startDeadlineMs: 5_000,
    async start({ spec: { id, workspaceDir, environment } }): Promise<SandboxHandle> {
      if (environment["FAIL"] === "yes") throw new SandboxError("The image is broken.");
      states.set(id, "running");
      const set = async (state: SandboxHealth["state"]): Promise<void> => void states.set(id, state);
      return {
        id,
        record: { backend: name },
        workspaceDir,
        stateDir: "/state",
        toolHostAddress: `unix:/${id}`,
        connect: () => Promise.reject(new SandboxError("Nothing runs in here.")),
        connectPort: () => Promise.reject(new SandboxError("Nothing runs in here.")),
        pause: () => set("paused"),
        resume: () => set("running"),
        stop: () => set("stopped"),
        health: async () => ({ state: states.get(id) ?? "missing", detail: null }),
        logs: async () => "",
      };
    },
    reattach: async () => null,
    listOwned: async () => [...states.keys()],
    remove: async (id) => void states.delete(id),
  };
}

const plain: FleetTemplate = {
  limits: { memoryMb: 64, cpus: 1, pids: 10 },
  network: "none",
  backend: "plain",
  environment: { LANG: "C" },
};

/** `specs`: templates of an operator, instead of the server's own. */
async function openBench(warm = 0, specs?: FleetTemplate[]) {
  await using scope = new AsyncDisposableStack();
  const folder = scope.use(await mkdtempDisposable(join(tmpdir(), "convoke-fleet-"))).path;
  const states = new Map<string, SandboxHealth["state"]>();
  let nowMs = 1_000;
  const fleet = scope.use(
    await openSandboxFleet({
      backends: [mapBackend("plain", states), mapBackend("images", new Map())],
      store: openSqliteSandboxStore(":memory:"),
      secretBox: await openSecretBox(join(folder, "master-key")),
      clock: { nowMs: () => nowMs++ },
      logger: silentLogger,
    }),
  );
  const open = (own: readonly FleetTemplate[]): Sandboxes => {
    const [first = plain, ...rest] = own;
    return new FleetSandboxes({
      fleet,
      ways: createTestWays("none"),
      templates: [first, ...rest],
      sandboxesDir: join(folder, "sandboxes"),
      templatesSinceMs: 7,
      summary: "plain: nothing",
      warm: { logger: silentLogger, times: { restMs: 0 } },
    });
  };
  const sandboxes = open(
    specs ?? [
      { ...plain, warm },
      { ...plain, backend: "images", image: "broken:1", environment: { FAIL: "yes" } },
    ],
  );
  scope.defer(() => sandboxes[Symbol.asyncDispose]());
  const owned = scope.move();
  return { sandboxes, fleet, states, folder, open, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

test("templates are named after what makes their sandboxes, the first is the default", async () => {
  await using bench = await openBench();
  expect(bench.sandboxes.templates).toEqual([
    {
      id: "plain",
      description: null,
      isolation: "none",
      runtime: null,
      environment: { LANG: "C" },
      createdAtMs: 7,
    },
    {
      id: "images:broken:1",
      description: null,
      isolation: "none",
      runtime: null,
      environment: { FAIL: "yes" },
      createdAtMs: 7,
    },
  ]);
});

test("a sandbox starts, pauses, goes on and leaves nothing; its workspace is in its own directory", async () => {
  await using bench = await openBench();
  const { sandboxes, fleet, states } = bench;
  const started = await sandboxes.start("ada", "plain");
  expect(started).toMatchObject({ ownerId: "ada", templateId: "plain", status: "STARTING" });
  const row = await fleet.settled(started.id);
  expect(row?.spec.workspaceDir).toBe(join(bench.folder, "sandboxes", started.id, "workspace"));
  const statusNow = async () => (await sandboxes.getMany("ada", [started.id]))[0]?.status;
  expect(await statusNow()).toBe("RUNNING");
  expect(await sandboxes.pause("ada", started.id)).toBe(true);
  expect(await statusNow()).toBe("PAUSED");
  expect(await sandboxes.resume("ada", started.id)).toBe(true);
  expect(await statusNow()).toBe("RUNNING");
  expect(await sandboxes.remove("ada", started.id)).toBe(true);
  expect(await statusNow()).toBe(undefined);
  expect(states.size).toBe(0);
  expect(await sandboxes.remove("ada", started.id)).toBe(false);
});

test("a sandbox that is asked for twice by its id is one sandbox", async () => {
  await using bench = await openBench();
  const { sandboxes, fleet, states } = bench;
  const first = await sandboxes.start("ada", "plain", "0198c0de");
  const again = await sandboxes.start("ada", "plain", "0198c0de");
  expect([first.id, again.id]).toEqual(["0198c0de", "0198c0de"]);
  await fleet.settled("0198c0de");
  expect([...states.keys()]).toEqual(["0198c0de"]);
});

test("P23: a failed start says why, and the sandbox can be removed", async () => {
  await using bench = await openBench();
  const { id } = await bench.sandboxes.start("ada", "images:broken:1");
  await bench.fleet.settled(id);
  expect(await bench.sandboxes.getMany("ada", [id])).toMatchObject([
    { templateId: "images:broken:1", status: "ERROR", statusDetail: "The image is broken." },
  ]);
  expect(await bench.sandboxes.remove("ada", id)).toBe(true);
});

test("nobody sees or touches a sandbox of somebody else", async () => {
  await using bench = await openBench();
  const { sandboxes, fleet } = bench;
  const { id } = await sandboxes.start("ada", "plain");
  await fleet.settled(id);
  expect(await sandboxes.getMany("bob", [id])).toEqual([null]);
  expect(await sandboxes.search("bob", { limit: 10 })).toEqual({ items: [], nextPageId: null });
  for (const act of ["pause", "resume", "remove"] as const)
    expect(await sandboxes[act]("bob", id)).toBe(false);
  expect(await sandboxes.getMany("ada", [id])).toMatchObject([{ status: "RUNNING" }]);
});

test("pages are newest first and only one's own; a page id of somebody else is unknown", async () => {
  await using bench = await openBench();
  const { sandboxes } = bench;
  const ids: string[] = [];
  for (let number = 0; number < 3; number++) ids.unshift((await sandboxes.start("ada", "plain")).id);
  const other = await sandboxes.start("bob", "plain");
  const first = await sandboxes.search("ada", { limit: 2 });
  expect(first.items.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  const last = await sandboxes.search("ada", { limit: 2, pageId: first.nextPageId! });
  expect(last.items.map(({ id }) => id)).toEqual(ids.slice(2));
  expect(last.nextPageId).toBe(null);
  await expect(sandboxes.search("ada", { limit: 2, pageId: other.id })).rejects.toThrow("no sandbox");
});

test("one that is kept ready is nobody's until somebody starts one, and then theirs alone", async () => {
  await using bench = await openBench(1);
  const { sandboxes, fleet } = bench;
  const ready = async (): Promise<string | undefined> =>
    (await fleet.list()).find(({ status, ownerId }) => ownerId === null && status === "RUNNING")?.id;
  await expect.poll(ready).toBeDefined();
  const id = (await ready())!;
  expect(await sandboxes.getMany("ada", [id])).toEqual([null]);
  expect((await sandboxes.search("", { limit: 10 })).items).toEqual([]);
  expect([sandboxes.ownerOf(id), [...(await sandboxes.countByStatus())]]).toEqual([null, []]);
  // It may be written down as made a moment before it can be taken.
  await expect
    .poll(async () => {
      const reserved = sandboxes.reserve("plain");
      if (reserved !== null) sandboxes.unreserve(reserved);
      return reserved;
    })
    .toBe(id);
  expect(await sandboxes.start("ada", "plain")).toMatchObject({ id, ownerId: "ada", status: "RUNNING" });
  expect(await sandboxes.getMany("bob", [id])).toEqual([null]);
  expect(await sandboxes.remove("ada", id)).toBe(true);
  expect((await sandboxes.start("bob", "plain")).id).not.toBe(id);
});

test("one that is reserved is given to who asks for it by its id, and to nobody else", async () => {
  await using bench = await openBench(1);
  const { sandboxes } = bench;
  let reserved: string | null = null;
  await expect.poll(() => (reserved = sandboxes.reserve("plain"))).not.toBe(null);
  const others = await sandboxes.start("bob", "plain");
  expect(others.id).not.toBe(reserved);
  const first = await sandboxes.start("ada", "plain", reserved!);
  const again = await sandboxes.start("ada", "plain", reserved!);
  expect([first, again]).toMatchObject([
    { id: reserved, status: "RUNNING" },
    { id: reserved, status: "RUNNING" },
  ]);
  expect(sandboxes.reserve("images:broken:1")).toBe(null);
});

test("specs of the operator have the ids of the operator, each with its own backend, limits and secrets", async () => {
  const limits = { memoryMb: 128, cpus: 1, pids: 10 };
  const strong = { ...plain, specId: "strong", description: "Careful", runtime: "runsc", limits };
  await using bench = await openBench(0, [{ ...plain, specId: "light", secretNames: ["A"] }, strong]);
  expect(bench.sandboxes.templates).toMatchObject([
    { id: "light", description: null, runtime: null, secretNames: ["A"] },
    { id: "strong", description: "Careful", runtime: "runsc" },
  ]);
  const light = await bench.sandboxes.start("ada", "light");
  expect(light).toMatchObject({ templateId: "light", secretNames: ["A"] });
  const { id } = await bench.sandboxes.start("ada", "strong");
  const row = await bench.fleet.settled(id);
  expect(row?.spec).toMatchObject({ specId: "strong", runtime: "runsc", limits });
  expect(Object.keys(row!.spec)).not.toContain("warm");
  expect(Object.keys(row!.spec)).not.toContain("description");
  await expect(bench.sandboxes.start("ada", "plain")).rejects.toMatchObject({
    code: "sandbox_spec_not_found",
    message: 'There is no sandbox spec "plain", only: light, strong.',
  });
});

test("a sandbox whose spec was removed runs on, says what a start makes of it, and is started with what it had", async () => {
  await using bench = await openBench(0, [{ ...plain, specId: "old", environment: { OLD: "1" } }]);
  const { id } = await bench.sandboxes.start("ada", "old");
  await bench.fleet.settled(id);
  // The next server has another file.
  const later = bench.open([{ ...plain, specId: "new" }]);
  const seen = async () => (await later.getMany("ada", [id]))[0];
  expect(await seen()).toMatchObject({ templateId: "old", status: "RUNNING", statusDetail: null });
  await later.pause("ada", id);
  expect((await seen())?.statusDetail).toContain("The sandbox spec old is not configured any more");
  await later.resume("ada", id);
  expect(await seen()).toMatchObject({ templateId: "old", status: "RUNNING" });
  expect((await bench.fleet.get(id))?.spec.environment).toEqual({ OLD: "1" });
});

test("each spec has warm sandboxes of its own", async () => {
  await using bench = await openBench(0, [
    { ...plain, specId: "one", warm: 1 },
    { ...plain, specId: "two", warm: 1 },
    { ...plain, specId: "none" },
  ]);
  const { sandboxes, fleet } = bench;
  const taken = new Map<string, string>();
  for (const spec of ["two", "one"]) {
    await expect
      .poll(() => {
        const id = sandboxes.reserve(spec);
        if (id !== null) taken.set(spec, id);
        return id;
      })
      .not.toBe(null);
  }
  expect(sandboxes.reserve("none")).toBe(null);
  for (const [spec, id] of taken) {
    expect(await sandboxes.start("ada", spec, id)).toMatchObject({ id, templateId: spec, status: "RUNNING" });
    expect((await fleet.get(id))?.spec.specId).toBe(spec);
  }
});
