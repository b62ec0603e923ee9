import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { isolation, newProc } from "./bubblewrap-arguments.ts";
import { findBubblewrap } from "./find-bubblewrap.ts";
import { writableKernelFiles } from "./testing/escapes/kernel-attempts.ts";

const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const probe = await findBubblewrap({
  self,
  unprivileged: { uid: 65_534, gid: 65_534 },
  environment: process.env,
});
const run = promisify(execFile);

/** Runs a shell command in bubblewrap that this very user starts, so that files of the kernel belong to whom it was for root. */
async function insideOf(proc: readonly string[], command: string): Promise<string> {
  const args = [
    ...isolation,
    "--unshare-net",
    "--ro-bind",
    "/",
    "/",
    ...proc,
    "--dev",
    "/dev",
    "--",
    "/bin/bash",
  ];
  const { stdout } = await run("bwrap", [...args, "-c", command], { timeout: 60_000, maxBuffer: 16_000_000 });
  return stdout;
}

describe.skipIf(!probe.isUsable || self.uid !== 0)(
  `needs root and a working bubblewrap (${probe.detail})`,
  () => {
    test("escape: a process that root starts in bubblewrap opens no file of the kernel for writing", async () => {
      expect(await insideOf(newProc, `${writableKernelFiles}; true`)).toBe("");
    });

    test("the same attempt finds core_pattern where /proc/sys is not bound read-only", async () => {
      expect(await insideOf(["--proc", "/proc"], `${writableKernelFiles}; true`)).toContain(
        "ESCAPED /proc/sys/kernel/core_pattern",
      );
    });
  },
);
