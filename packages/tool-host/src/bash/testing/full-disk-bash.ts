import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { BashOutput } from "@convoke/protocol";
import { createBashId } from "../bash-log.ts";
import { openLocalBash } from "../local-bash.ts";

/** Runs commands on a small disk that another file fills; prints the results for callers as JSON. */
const disk = "/mnt";
const filler = join(disk, "filler");
const environment = { PATH: "/usr/bin:/bin" };
const request = { owner: "ada", cwd: "/", timeoutSeconds: 60, secrets: [] };
await using bash = openLocalBash({ path: join(disk, "bash.sqlite"), environment });

function fill(): void {
  for (const size of [65_536, 1_024, 1]) {
    try {
      for (;;) appendFileSync(filler, "x".repeat(size));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "none",
    (error: unknown) => String((error as { code?: string }).code),
  );
}

async function endOf(id: string) {
  const { exit_code, stdout, stderr } = JSON.parse(String(await bash.result("ada", id))) as BashOutput;
  return { exit_code, stdout, stderr };
}

const id = createBashId();
await bash.start({
  ...request,
  id,
  command: "head -c 900000 /dev/zero | tr '\\0' x; exit 7",
});
fill();
const start = await codeOf(
  bash.start({ ...request, id: createBashId(), command: `echo ${"x".repeat(100_000)}` }),
);
const result = await codeOf(bash.result("ada", id));
rmSync(filler);
const later = await endOf(id);
const nextId = createBashId();
await bash.start({ ...request, id: nextId, command: "echo next" });
console.log(JSON.stringify({ start, result, later, next: await endOf(nextId) }));
