import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readCommandLine } from "@convoke/tool-host/system";
import { expect, test } from "vitest";
import { describeSandboxBackend } from "./contract.ts";
import { createProcessBackend } from "./process.ts";
import { SandboxBench } from "./testing/sandbox-bench.ts";

describeSandboxBackend({
  name: "process",
  create: (bench) => createProcessBackend(bench.deps),
  isIsolated: false,
  uid: process.getuid?.() ?? 0,
});

test("an aborted start ends its first process also at the moment in which that has no environment", async () => {
  const file = (name: string): string => join(bench.dataDir, name);
  await using bench = await SandboxBench.open((of) =>
    createProcessBackend({ ...of.deps, program: { ...of.deps.program, node: join(of.dataDir, "program") } }),
  );
  // A process that becomes another program has none for a moment; this one for ever.
  await writeFile(file("program"), `#!/bin/sh\necho $$ > ${file("pid")}\nexec env -i sleep 600\n`);
  await chmod(file("program"), 0o755);
  const abort = new AbortController();
  const starting = bench.backend.start({
    spec: bench.spec(),
    keys: bench.keys,
    onProgress: () => {},
    signal: abort.signal,
  });
  const commandLine = async (): Promise<string | undefined> =>
    readCommandLine(Number(await readFile(file("pid"), "utf8").catch(() => "0")));
  await expect.poll(commandLine, { interval: 10 }).toContain("sleep");
  abort.abort(new Error("given up"));
  await expect(starting).rejects.toThrow("given up");
  expect(await commandLine()).toBeUndefined();
});
