import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { findMarkedProcesses, readProcess } from "../../processes/process-table.ts";
import { startStopwatch } from "../../testing/stopwatch.ts";
import { openTestTerminal } from "./testing/open-terminal.ts";

const stubborn: [string, string][] = [
  ["a plain program", "echo begun; sleep 300"],
  ["one that ignores Ctrl-C", "trap '' INT; echo begun; sleep 300"],
  ["one that ignores Ctrl-C and TERM", "trap '' INT TERM; echo begun; sleep 300"],
  ["a busy loop that ignores signals", "trap '' INT TERM; echo begun; while :; do :; done"],
  ["a flood", "echo begun; yes"],
  [
    "background children in sessions of their own",
    "echo begun; setsid nohup sleep 300 >/dev/null 2>&1 & sleep 300",
  ],
  ["a stopped program", "echo begun; bash -c 'kill -STOP $$'; sleep 300"],
  ["a full-screen program", "echo begun; exec 3<&0; less /etc/passwd"],
  ["a script that waits for input", "echo begun; read -r x; sleep 300"],
];

describe("P43: cancelling", () => {
  test.for(stubborn)(
    "P43: %s is stopped within two seconds and the terminal goes on",
    async ([, command]) => {
      await using terminal = await openTestTerminal();
      const { text: kept } = await terminal.run("sleep 300 > /dev/null 2>&1 & echo $!");
      const keptPid = Number(kept.split("\n").at(-1));
      // The kernel counts in ticks of 10 ms: what is older than the command must be older by one.
      await sleep(30);
      const abort = new AbortController();
      const begun = Promise.withResolvers<unknown>();
      const running = terminal.run(command, { signal: abort.signal, onProgress: begun.resolve });
      await begun.promise;
      // So that it is in the middle of what makes it hard to stop.
      await sleep(400);
      using stopwatch = startStopwatch();
      abort.abort();
      const answer = await running;
      expect(stopwatch.elapsedMs()).toBeLessThan(2_000);
      expect(answer).toMatchObject({ exit_code: 130, is_error: false, timeout: false });
      expect(answer.text).toContain("begun");
      expect(await terminal.run("echo next; (exit 7)")).toMatchObject({ text: "next", exit_code: 7 });
      expect(readProcess(keptPid)?.state).toBe("S");
    },
  );

  test("P43: the same answer when the call was aborted before it began", async () => {
    await using terminal = await openTestTerminal();
    const answer = await terminal.run("touch made", { signal: AbortSignal.abort() });
    expect(answer).toMatchObject({ exit_code: 130, text: "" });
    expect((await terminal.run("ls")).text).toBe("");
  });

  test("P43: an aborted follow-up stops the command", async () => {
    await using terminal = await openTestTerminal({ params: { no_change_timeout_seconds: 0.3 } });
    await terminal.run("sleep 300");
    const answer = await terminal.run("", { signal: AbortSignal.timeout(200), timeout: 60 });
    expect(answer).toMatchObject({ exit_code: 130 });
    expect(await terminal.run("echo next", { timeout: 20 })).toMatchObject({ text: "next" });
  });
});

describe("P14: disposal", () => {
  const escapes = [
    "setsid nohup sleep 300 >/dev/null 2>&1 &",
    "(setsid bash -c 'sleep 300 & sleep 300' &)",
    "nohup bash -c 'trap \"\" TERM HUP INT; while :; do sleep 1; done' >/dev/null 2>&1 &",
    "sleep 300 & disown",
    "python3 -c 'import os,time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\ntime.sleep(300)'",
  ];

  test("P14: nothing that a terminal started outlives it, and it is quick", async () => {
    const marker = `TERMINAL_TEST=${process.pid}-${Math.floor(performance.now())}`;
    const [name = "", value = ""] = marker.split("=");
    const terminal = await openTestTerminal({ environment: { [name]: value } });
    for (const command of escapes) await terminal.run(command);
    await terminal.run("true; sleep 300", { timeout: 1 });
    // One that has just been forked may have no environment yet.
    await expect.poll(() => findMarkedProcesses(marker).length).toBeGreaterThan(7);
    using stopwatch = startStopwatch();
    await terminal[Symbol.asyncDispose]();
    expect(stopwatch.elapsedMs()).toBeLessThan(2_000);
    expect(findMarkedProcesses(marker)).toEqual([]);
  });

  test("P14: opening and closing leaves no process and no open file", async () => {
    const cycle = async (): Promise<void> => {
      await using terminal = await openTestTerminal();
      expect((await terminal.run("sleep 300 & echo x")).exit_code).toBe(0);
    };
    await cycle();
    const before = countFiles();
    for (let round = 0; round < 20; round += 1) await cycle();
    await expect.poll(countFiles).toBeLessThanOrEqual(before + 1);
    await expect.poll(childProcesses).toEqual([]);
  });

  test("disposing twice and without use is fine", async () => {
    const terminal = await openTestTerminal();
    await terminal[Symbol.asyncDispose]();
    await terminal[Symbol.asyncDispose]();
  });
});

function countFiles(): number {
  return readdirSync("/proc/self/fd").length;
}

/** Processes, zombies included, that are our own children and look like shells. */
function childProcesses(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readProcess(Number(pid)))
    .filter((entry) => entry?.parentPid === process.pid && entry.state === "Z")
    .map((entry) => String(entry?.pid));
}
