import { buffer, text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { createInProcessHost } from "../in-process-host.ts";
import type { ToolHost } from "../host.ts";
import { watchLeaks } from "../testing/leaks.ts";
import { openServedBench } from "../testing/served-host.ts";
import { allowedEnvironment } from "./allowed-environment.ts";
import type { ProcessSpec } from "./piped-process.ts";
import { findMarkedProcesses, readProcess } from "../system/process-table.ts";
import { startUnread } from "./testing/start-unread.ts";

const owned: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of owned.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

const hosts: readonly { readonly name: string; readonly open: () => Promise<ToolHost> }[] = [
  {
    name: "in this process",
    open: async () =>
      createInProcessHost({ tools: [], environment: allowedEnvironment({ PATH: process.env["PATH"] }) }),
  },
  {
    name: "behind a socket",
    open: async () => {
      const bench = await openServedBench();
      owned.push(bench);
      return bench.connect();
    },
  },
];

function shell(script: string, environment: Record<string, string> = {}): ProcessSpec {
  return { command: "/bin/sh", args: ["-c", script], environment, workingDir: "/" };
}

describe.each(hosts)("a piped process of a host $name", ({ open }) => {
  async function openHost(): Promise<ToolHost> {
    const host = await open();
    owned.push(host);
    return host;
  }

  test("answers on its output what it reads, and says how it ended", async () => {
    const host = await openHost();
    await using started = host.startProcess(
      shell('read -r line; echo "got $line $WORD"; echo bad >&2; exit 3', { WORD: "w" }),
    );
    const output = text(started.output);
    started.input.write("hello\n");
    expect(await output).toBe("got hello w\n");
    expect(await started.ended).toEqual({ exitCode: 3, signal: null, errorText: "bad\n" });
  });

  test("P58: a missing program is a rejection, and writing to a dead one does nothing", async () => {
    const host = await openHost();
    await using missing = host.startProcess({ ...shell(""), command: "/no/such/program" });
    await expect(missing.ended).rejects.toThrow(/ENOENT/);
    missing.input.write("x");
    await using gone = host.startProcess(shell("exit 0"));
    await gone.ended;
    gone.input.write("x".repeat(100_000));
  });

  test("P58: P14: a wrapper's whole tree dies with the process, groups of their own included", async () => {
    const host = await openHost();
    const marker = `PIPED_TEST=${crypto.randomUUID()}`;
    const [name, value] = marker.split("=") as [string, string];
    const started = host.startProcess(
      shell("setsid sleep 600 & sh -c 'sleep 600; true' & echo ready; trap '' TERM; wait", { [name]: value }),
    );
    await new Promise((resolve) => started.output.once("data", resolve));
    // A process that was just forked may have no environment yet.
    await expect.poll(() => findMarkedProcesses(marker).length).toBeGreaterThan(1);
    await started[Symbol.asyncDispose]();
    await expect.poll(() => findMarkedProcesses(marker)).toEqual([]);
  });

  test("P14: the host's end is the end of its processes", async () => {
    const leaks = watchLeaks();
    const host = await open();
    const started = host.startProcess(shell("echo $$; exec sleep 600"));
    const pid = await new Promise<number>((resolve) =>
      started.output.once("data", (data) => resolve(Number(String(data)))),
    );
    await started[Symbol.asyncDispose]();
    await host[Symbol.asyncDispose]();
    await expect.poll(() => readProcess(pid)).toBeUndefined();
    for (const one of owned.splice(0).toReversed()) await one[Symbol.asyncDispose]();
    await leaks.assertNone();
  });
});

test("the output of a process is read to its end, even if its exit is reported first", async () => {
  await using host = await hosts[0]!.open();
  const output = await startUnread(() => {
    const started = host.startProcess(shell("echo said"));
    owned.push(started);
    return { text: text(started.output) };
  });
  expect(await output.text).toBe("said\n");
});

test("the output of a process that has exited is read later", async () => {
  await using host = await hosts[0]!.open();
  const started = host.startProcess(shell("echo said"));
  owned.push(started);
  await started.ended;
  await sleep(300);
  expect(await text(started.output)).toBe("said\n");
});

test("the output of a remote process is read to its end by a client that is slower than it", async () => {
  const host = await hosts[1]!.open();
  owned.push(host);
  const size = 900_000;
  await using started = host.startProcess(shell(`head -c ${size} /dev/zero`));
  started.input.end();
  await started.ended;
  expect((await buffer(started.output)).length).toBe(size);
});
