import { expect, test } from "vitest";
import { whyNoWall } from "./why-no-wall.ts";

const linux = { platform: "linux", isRestrictedByProfile: false } as const;

test("nothing stands against a wall that works", () => {
  expect(whyNoWall({ isUsable: true, detail: "works" }, linux)).toBeNull();
});

test.each([
  [
    "not installed (Debian, Ubuntu: apt-get install bubblewrap)",
    linux,
    "is not installed",
    "apt-get install",
  ],
  [
    "does not work here: bwrap: setting up uid map: Permission denied",
    { ...linux, isRestrictedByProfile: true },
    "AppArmor profile",
    "apparmor_parser",
  ],
  [
    "does not work here: bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
    { ...linux, isRestrictedByProfile: true },
    "AppArmor",
    "apparmor",
  ],
  [
    "does not work here: bwrap: No permissions to create new namespace",
    linux,
    "container allows no namespaces",
    "only wall",
  ],
  [
    "does not work here: bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
    linux,
    "masks /proc",
    "systempaths",
  ],
  [
    "does not work here: bwrap: Creating new namespace failed: No space left on device",
    linux,
    "inside a wall already",
    "sysctl",
  ],
  ["does not work here: strange", linux, "bubblewrap does not work here: strange.", "bwrap --ro-bind"],
  ["anything", { ...linux, platform: "darwin" as const }, "no wall on this system", "Linux"],
])("%s is said in words, with the way out", (detail, facts, reason, fix) => {
  const why = whyNoWall({ isUsable: false, detail }, facts);
  expect(why?.reason).toContain(reason);
  expect(why?.fix).toContain(fix);
});
