import { readdir } from "node:fs/promises";
import { expect, describe, test } from "vitest";
import { openControlGroups } from "../sandboxes/control-groups/open-control-groups.ts";
import { findBubblewrap, ownAccount } from "../sandboxes/find-bubblewrap.ts";
import { WallBench } from "./testing/wall-bench.ts";

const self = ownAccount();
const environment = process.env;
const probe = await findBubblewrap({ self, unprivileged: { uid: 65_534, gid: 65_534 }, environment });
const groups = await openControlGroups({ uid: self.uid, environment });
const detail = probe.isUsable ? groups.detail : probe.detail;
const limits = { memoryMb: 400, cpus: 0.5, pids: 200 };

describe.skipIf(!probe.isUsable || groups.kind !== "group")(`needs control groups v2 (${detail})`, () => {
  test("processes that use too much memory together are ended, and the call says so", async () => {
    await using bench = await WallBench.open({ limits });
    const terminal = await bench.terminal();
    const wall = await bench.walls.open(bench.order());
    const readNotes = await wall.beginCall();
    // Each stays far below the limit.
    const hold = "(head -c 90m /dev/zero | tail -c 90m | sleep 20) &";
    expect(await terminal(`for i in 1 2 3 4 5 6; do ${hold} done; wait; echo over`)).toContain("over");
    expect(await readNotes()).toMatch(/^Memory: .* limit of 400 MB \(CONVOKE_WALL_MEMORY_MB/);
    const after = await wall.beginCall();
    expect(await terminal("echo works")).toBe("works");
    expect(await after()).toBe("");
  });

  test("more processes than allowed cannot be started", async () => {
    await using bench = await WallBench.open({ limits: { ...limits, pids: 100 } });
    const terminal = await bench.terminal();
    expect(await terminal("for i in $(seq 150); do sleep 5 & done 2>&1 | grep -c esource; true")).not.toBe(
      "0",
    );
  });

  test("a group goes with its wall", async () => {
    const bench = await WallBench.open({ limits });
    const terminal = await bench.terminal();
    const own = await terminal("cat /proc/self/cgroup");
    expect(own).toContain("0::/");
    await bench[Symbol.asyncDispose]();
    const left = await readdir("/sys/fs/cgroup/tools").catch(() => []);
    expect(left.filter((name) => name.startsWith(`of-${process.pid}-wall`))).toEqual([]);
  });
});
