import { expect, test } from "vitest";
import { isRootless, isRootlessOnVersionOne, remedyOf } from "./engine-facts.ts";

test.each([
  ["docker", { SecurityOptions: ["name=seccomp,profile=default"], CgroupVersion: "1" }, false, false],
  ["docker without root", { SecurityOptions: ["name=rootless"], CgroupVersion: "2" }, true, false],
  ["podman", { Rootless: false, SecurityOptions: null, CgroupVersion: "1" }, false, false],
  ["podman without root", { Rootless: true, CgroupVersion: "1" }, true, true],
])("the rights of %s are read", (_name, info, rootless, isLimited) => {
  expect([isRootless(info), isRootlessOnVersionOne(info)]).toEqual([rootless, isLimited]);
});

test.each([
  [
    "container create: container-init binary not found on the host: stat /usr/libexec/podman/catatonit",
    "Install catatonit",
  ],
  [
    "runc: runc create failed: error setting rlimits for ready process: error setting rlimit type 7",
    "default_ulimits",
  ],
  ["starting container: cannot run with network enabled in root network namespace", "--network=none"],
  ["unknown or invalid runtime name: runsc", "Name the runtime"],
])("what the machine lacks is told with what to do: %s", (message, remedy) => {
  expect(remedyOf(message)).toContain(remedy);
});

test("an error that is not known stays as the engine wrote it", () => {
  expect(remedyOf("no such image")).toBe("");
});
