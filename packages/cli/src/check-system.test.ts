import { expect, test } from "vitest";
import { checkSystem } from "./check-system.ts";

test("Linux is fine; WSL2 and macOS are said to be not tried", () => {
  const linux = { platform: "linux", arch: "x64", release: "6.1.0-amd64" };
  expect(checkSystem(linux)).toEqual({ name: "system", state: "ok", detail: "linux x64", fix: null });
  expect(checkSystem({ ...linux, release: "5.15.153.1-microsoft-standard-WSL2" })).toMatchObject({
    state: "optional",
    detail: "linux x64 in WSL2: not tried",
    fix: expect.stringContaining("/mnt") as string,
  });
  expect(checkSystem({ platform: "darwin", arch: "arm64", release: "25.0.0" })).toMatchObject({
    state: "optional",
    detail: "darwin arm64: not tried",
  });
});
