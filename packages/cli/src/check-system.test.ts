import { expect, test } from "vitest";
import { bashFix, checkSystem, describeRefusedUser, requireBash } from "./check-system.ts";

test("Linux is fine; WSL2 and macOS are said to be not tried", () => {
  const linux = { platform: "linux", arch: "x64", release: "6.1.0-amd64", uid: 0 };
  expect(checkSystem(linux)).toEqual({ name: "system", state: "ok", detail: "linux x64", fix: null });
  expect(checkSystem({ ...linux, release: "5.15.153.1-microsoft-standard-WSL2" })).toMatchObject({
    state: "optional",
    detail: "linux x64 in WSL2: not tried",
    fix: expect.stringContaining("/mnt") as string,
  });
  expect(checkSystem({ platform: "darwin", arch: "arm64", release: "25.0.0", uid: 501 })).toMatchObject({
    state: "optional",
    detail: "darwin arm64: not tried",
  });
});

test("root is refused elsewhere than on Linux, by a server and by doctor", () => {
  expect(describeRefusedUser({ platform: "linux", uid: 0 })).toBe(null);
  expect(describeRefusedUser({ platform: "darwin", uid: 501 })).toBe(null);
  const fix = "Convoke does not run as root on darwin, only on Linux. Start it as an ordinary user.";
  expect(describeRefusedUser({ platform: "darwin", uid: 0 })).toBe(fix);
  expect(checkSystem({ platform: "darwin", arch: "arm64", release: "25.0.0", uid: 0 })).toEqual({
    name: "system",
    state: "missing",
    detail: "darwin arm64 as root",
    fix,
  });
});

test("the bash of macOS is too old for terminals, and doctor says so", () => {
  const found = (detail: string) => ({ name: "bash", state: "ok", detail, fix: null }) as const;
  const old = "GNU bash, version 3.2.57(1)-release (arm64-apple-darwin25)";
  expect(requireBash(found(old))).toEqual({
    name: "bash",
    state: "missing",
    detail: `${old}: too old`,
    fix: bashFix,
  });
  const modern = found("GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)");
  expect(requireBash(modern)).toEqual(modern);
});
