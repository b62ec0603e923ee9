import { expect, test } from "vitest";
import type { EngineKind } from "./container-confinement.ts";
import { containerFilter } from "./container-seccomp.ts";
import { containerBody, type ContainerOrder } from "./docker-container.ts";

const order: ContainerOrder = {
  spec: {
    id: "s1",
    workspaceDir: "/w",
    environment: {},
    network: "none",
    limits: { memoryMb: 64, cpus: 1, pids: 10 },
  },
  installationId: "i",
  image: "image",
  account: { uid: 1, gid: 1 },
  binds: [],
  trust: null,
  engine: { isPodman: false, isRootless: false, filterFile: "/f" },
  environment: {},
};

function securityOf(given: ContainerOrder): string[] {
  return (containerBody(given) as { HostConfig: { SecurityOpt: string[] } }).HostConfig.SecurityOpt;
}

test("DO06, S27: a container gets a filter of its own; podman by the path of a file", () => {
  const [privileges, filter = ""] = securityOf(order);
  expect(privileges).toBe("no-new-privileges");
  expect(JSON.parse(filter.replace(/^seccomp=/, ""))).toEqual(containerFilter(process.arch));
  expect(securityOf({ ...order, engine: { ...order.engine, isPodman: true } })).toEqual([
    "no-new-privileges",
    "seccomp=/f",
    "mask=/proc/pressure",
  ]);
});

test("DO06, S27: io_uring, sockets past the network namespace and calls of other architectures are refused", () => {
  const filter = containerFilter("x64") as {
    architectures: string[];
    syscalls: { names: string[]; errnoRet: number; args?: { op: string; value: number }[] }[];
  };
  expect(filter.architectures).toEqual(["SCMP_ARCH_X86_64"]);
  const refused = (name: string) => filter.syscalls.filter(({ names }) => names.includes(name));
  for (const name of ["io_uring_setup", "io_uring_enter", "io_uring_register", "clone3"])
    expect(refused(name)).toMatchObject([{ errnoRet: 38 }]);
  for (const name of ["mount", "unshare", "setns", "bpf", "keyctl", "userfaultfd"])
    expect(refused(name)).toMatchObject([{ errnoRet: 1 }]);
  const isRefused = (family: number): boolean =>
    refused("socket").some(({ args: [arg] = [] }) =>
      arg?.op === "SCMP_CMP_GT" ? family > arg.value : family === arg?.value,
    );
  const left = Array.from({ length: 50 }, (_, family) => family).filter((family) => !isRefused(family));
  expect(left).toEqual([0, 1, 2, 10, 16]);
  expect(refused("clone")).toHaveLength(7);
  expect(containerFilter("riscv64")).toBeNull();
});

test("the user of a rootless podman is the account; podman of root, which refuses that, has the account's number", () => {
  const usersOf = (given: Partial<EngineKind>): unknown =>
    (
      containerBody({ ...order, engine: { ...order.engine, ...given } }) as {
        HostConfig: { UsernsMode?: string };
      }
    ).HostConfig.UsernsMode;
  expect(usersOf({ isPodman: true, isRootless: true })).toBe("keep-id");
  expect(usersOf({ isPodman: true })).toBeUndefined();
  expect(usersOf({ isRootless: true })).toBeUndefined();
});

test("a container has the runtime that was asked for, and otherwise the engine's own", () => {
  const runtimeOf = (given: ContainerOrder): unknown =>
    (containerBody(given) as { HostConfig: { Runtime?: string } }).HostConfig.Runtime;
  expect(runtimeOf(order)).toBeUndefined();
  expect(runtimeOf({ ...order, spec: { ...order.spec, runtime: "runsc" } })).toBe("runsc");
});
