import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findOwnGroup, readMemoryEnds } from "./group-files.ts";
import { openControlGroups } from "./open-control-groups.ts";

/** A folder in which the files of the kernel and of systemd are texts. */
async function openMachine({ controllers = "cpu memory pids", hasSystemd = false } = {}) {
  const root = await mkdtemp(join(tmpdir(), "convoke-groups-"));
  const own = join(root, "fs/service");
  await mkdir(own, { recursive: true });
  await writeFile(join(own, "cgroup.controllers"), `${controllers}\n`);
  for (const name of ["cgroup.procs", "cgroup.subtree_control"]) await writeFile(join(own, name), "");
  const files = {
    ownGroups: join(root, "own"),
    mounts: join(root, "mounts"),
    systemd: join(root, "systemd"),
  };
  await writeFile(files.ownGroups, "4:memory:/old\n0::/service\n");
  await writeFile(files.mounts, `30 20 0:26 / ${root}/fs rw,nosuid shared:4 - cgroup2 cgroup2 rw\n`);
  if (hasSystemd) await mkdir(files.systemd);
  const bin = join(root, "bin");
  await mkdir(bin);
  return {
    own,
    bin,
    open: (uid = 1000) =>
      openControlGroups({
        uid,
        environment: { PATH: `${bin}:/usr/bin:/bin` },
        files,
        // The files of a real group are the kernel's: its folder counts as empty.
        removeFolder: (path) => rm(path, { recursive: true }),
      }),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}

test("a delegated group gets one below it for each name, with its limits, and removes it", async () => {
  await using machine = await openMachine();
  const groups = await machine.open();
  expect(groups).toMatchObject({ kind: "group", detail: "control groups v2, in the server's own group" });
  expect(await readFile(join(machine.own, "cgroup.subtree_control"), "utf8")).toBe("+memory +pids +cpu");
  const { wrap } = await groups.open("one", { memoryMb: 512, pids: 100, cpus: 1.5 });
  const group = join(machine.own, "tools/one");
  expect(Object.fromEntries(await readTexts(group))).toEqual({
    "cpu.max": "150000 100000",
    "memory.max": "536870912",
    "memory.swap.max": "0",
    "pids.max": "100",
  });
  const { file, args } = wrap({ file: "bwrap", args: ["--version"] });
  expect([file, ...args.slice(2)]).toEqual([
    "/bin/sh",
    "convoke-group",
    join(group, "cgroup.procs"),
    "bwrap",
    "--version",
  ]);
  await groups.remove("one");
  expect(await readdir(join(machine.own, "tools"))).toEqual(["cgroup.subtree_control"]);
  await groups.remove("one");
});

test("all processors are no limit", async () => {
  await using machine = await openMachine();
  const groups = await machine.open();
  await groups.open("one", { memoryMb: 512, pids: 100, cpus: null });
  expect(await readFile(join(machine.own, "tools/one/cpu.max"), "utf8")).toBe("max 100000");
});

test("groups that an ended server left are removed, others stay", async () => {
  await using machine = await openMachine();
  for (const name of ["of-999999999-x", `of-${process.pid}-x`, "sandbox-x"])
    await mkdir(join(machine.own, "tools", name), { recursive: true });
  await machine.open();
  expect((await readdir(join(machine.own, "tools"))).toSorted()).toEqual([
    "cgroup.subtree_control",
    `of-${process.pid}-x`,
    "sandbox-x",
  ]);
});

test("where version 2 has no controllers, limits are those of each process, and the reason is said", async () => {
  await using machine = await openMachine({ controllers: "" });
  expect(await machine.open()).toMatchObject({
    kind: "per-process",
    detail: "control groups v2 do not control memory and pids here (version 1 may have them)",
  });
});

test("under systemd a server without a delegated group uses scopes of its user", async () => {
  await using machine = await openMachine({ hasSystemd: true });
  await writeProgram(machine.bin, "systemctl", "echo no");
  await writeProgram(machine.bin, "systemd-run", "printf '0::/app.slice/x.scope\\n67108864\\n32\\n'");
  const groups = await machine.open();
  expect(groups.detail).toBe("control groups v2, as scopes of systemd for this user");
  const group = await groups.open("one", { memoryMb: 512, pids: 100, cpus: 0.5 });
  const { file, args } = group.wrap({ file: "bwrap", args: ["--version"] });
  expect([file, ...args].join(" ").replace(/one-[0-9a-f]{8}/, "one")).toBe(
    "systemd-run --user --scope --quiet --collect --unit=convoke-one.scope -p MemoryMax=512M -p MemorySwapMax=0 -p TasksMax=100 -p CPUQuota=50% -- bwrap --version",
  );
  expect(group.environment).toEqual({ XDG_RUNTIME_DIR: "/run/user/1000" });
  expect(await group.countMemoryEnds()).toBe(0);
});

test("a scope that systemd refuses, and one whose limits it does not set, mean that there are none", async () => {
  await using machine = await openMachine({ hasSystemd: true });
  await writeProgram(machine.bin, "systemctl", "echo no");
  await writeProgram(machine.bin, "systemd-run", "echo Failed to connect to bus >&2; exit 1");
  expect(await machine.open()).toMatchObject({
    kind: "per-process",
    detail: "a trial of control groups failed: Failed to connect to bus",
  });
  await writeProgram(machine.bin, "systemd-run", "printf '0::/app.slice/x.scope\\nmax\\n32\\n'");
  expect((await machine.open()).detail).toContain("did not set the limits");
});

test("the own group is found in mixed hierarchies, and not outside of what a container sees", () => {
  const mounts = "30 20 0:26 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n";
  expect(findOwnGroup("8:pids:/\n0::/a/b\n", mounts)).toBe("/sys/fs/cgroup/unified/a/b");
  expect(findOwnGroup("8:pids:/\n", mounts)).toBeNull();
  expect(findOwnGroup("0::/../other\n", mounts)).toBeNull();
  expect(findOwnGroup("0::/a\n", "30 20 0:26 / /sys/fs/cgroup rw - cgroup none rw\n")).toBeNull();
});

test("ended processes are counted, also in a group that is gone", async () => {
  await using machine = await openMachine();
  expect(await readMemoryEnds(machine.own)).toBe(0);
  await writeFile(join(machine.own, "memory.events"), "low 0\noom 4\noom_kill 3\noom_group_kill 0\n");
  expect(await readMemoryEnds(machine.own)).toBe(3);
});

async function readTexts(folder: string): Promise<[string, string][]> {
  const names = await readdir(folder);
  return await Promise.all(
    names.map(async (name): Promise<[string, string]> => [name, await readFile(join(folder, name), "utf8")]),
  );
}

async function writeProgram(folder: string, name: string, script: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, name), 0o755);
}
