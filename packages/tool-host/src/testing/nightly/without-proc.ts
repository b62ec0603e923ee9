import { spawnSync } from "node:child_process";
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canHideProc, withoutProc } from "../../system/testing/hidden-proc.ts";

/** Runs suites of vitest (`int`) in a world with an empty `/proc`, as on a system without one. Skipped where that is not allowed. */
if (canHideProc()) {
  using folder = mkdtempDisposableSync(join(tmpdir(), "convoke-no-proc-"));
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--project", "int", ...process.argv.slice(2)];
  const [command, ...args] = withoutProc(folder.path, [process.execPath, ...vitest]);
  process.exitCode = spawnSync(command, args, { stdio: "inherit" }).status ?? 1;
} else console.log("Skipped: this machine lets no test hide /proc.");
