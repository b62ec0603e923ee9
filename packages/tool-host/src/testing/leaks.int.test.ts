import { spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { expect, test } from "vitest";
import { watchLeaks } from "./leaks.ts";
import { openTemporaryDirectory } from "./temporary-directory.ts";

test("P14: the leak check names a child process and an open file, and passes once they are gone", async () => {
  await using directory = await openTemporaryDirectory();
  const leaks = watchLeaks();
  const child = spawn("/bin/sleep", ["60"], { stdio: "ignore" });
  await once(child, "spawn");
  const file = await open(`${directory.path}/file`, "w");
  await expect(leaks.assertNone(100)).rejects.toThrow(
    new RegExp(`child process ${child.pid}, 1 more open files, among them: .*/file`),
  );
  child.kill();
  await file.close();
  await leaks.assertNone();
});
