import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { findMarkedProcesses, readProcess } from "../../system/process-table.ts";
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
  test.for(stubborn)("P43: %s is stopped soon and the terminal goes on", async ([, command]) => {
    await using terminal = await openTestTerminal();
    const { text: output } = await terminal.run("sleep 300 > /dev/null 2>&1 & echo $!");
    const survivorPid = Number(output.split("\n").at(-1));
    // The kernel counts in ticks of 10 ms: an older process must be older by one tick.
    await sleep(30);
    const abort = new AbortController();
    const begun = Promise.withResolvers<unknown>();
    const running = terminal.run(command, { signal: abort.signal, onProgress: begun.resolve });
    await begun.promise;
    // So that the cancel hits the hard part.
    await sleep(400);
    using stopwatch = startStopwatch();
    abort.abort();
    const answer = await running;
    // The promise is two seconds, of which the graces take up to 1.5; a machine that runs other suites gets more.
    expect(stopwatch.elapsedMs()).toBeLessThan(10_000);
    expect(answer).toMatchObject({ exit_code: 130, is_error: false, timeout: false });
    expect(answer.text).toContain("begun");
    expect(await terminal.run("echo next; (exit 7)")).toMatchObject({ text: "next", exit_code: 7 });
    expect(readProcess(survivorPid)?.state).toBe("S");
  });

  const ignoring = "(trap '' INT; echo begun; sleep 20)";
  const catching =
    "python3 -c 'import signal,time; signal.signal(2, lambda *a: exit(0)); print(\"begun\", flush=True); time.sleep(20)'";
  const rests: [string, string][] = [
    ["a; b", `${ignoring}; touch next`],
    ["a && b", `${ignoring} && touch next`],
    ["a || b", `${ignoring} || touch next`],
    ["a; b, where a ends by itself at Ctrl-C", `${catching}; touch next`],
    ["a loop", `for i in 1 2 3; do ${ignoring}; touch next; done`],
    ["a subshell", `(${ignoring}; touch next)`],
    ["a loop in a pipe", `echo 1 | while read -r x; do ${ignoring}; touch next; done`],
    ["a script", `bash -c "${ignoring}; touch next"`],
    ["a script that ignores Ctrl-C and TERM", `bash -c "trap '' INT TERM; ${ignoring}; touch next"`],
    ["a shell that ignores Ctrl-C", `trap '' INT; ${ignoring}; touch next`],
    ["a shell with a trap", `trap 'touch trapped' INT; echo begun; sleep 20; touch next`],
    ["a shell that was given a trap earlier", "earlier"],
  ];

  test.for(rests)("P43, F2: a stop of %s ends the whole statement", async ([, command]) => {
    await using terminal = await openTestTerminal();
    if (command === "earlier") await terminal.run("trap 'true' INT");
    const text = command === "earlier" ? `${catching}; touch next` : command;
    const abort = new AbortController();
    const begun = Promise.withResolvers<unknown>();
    const running = terminal.run(text, { signal: abort.signal, onProgress: begun.resolve });
    await begun.promise;
    abort.abort();
    expect(await running).toMatchObject({ exit_code: 130 });
    expect(await terminal.run("ls")).toMatchObject({ text: "" });
  });

  test("F2: a stop keeps the shell and its state where it can", async () => {
    await using terminal = await openTestTerminal();
    await terminal.run("cd /; kept=yes");
    const abort = new AbortController();
    const begun = Promise.withResolvers<unknown>();
    const running = terminal.run("bash -c 'echo begun; sleep 20; true'; sleep 20", {
      signal: abort.signal,
      onProgress: begun.resolve,
    });
    await begun.promise;
    abort.abort();
    await running;
    expect(await terminal.run('echo "$kept $PWD"')).toMatchObject({ text: "yes /" });
  });

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

  test("P14: no process of a terminal outlives it, and disposal is fast", async () => {
    const marker = `TERMINAL_TEST=${process.pid}-${Math.floor(performance.now())}`;
    const [name = "", value = ""] = marker.split("=");
    const terminal = await openTestTerminal({ environment: { [name]: value } });
    for (const command of escapes) await terminal.run(command);
    await terminal.run("true; sleep 300", { timeout: 1 });
    // A process that was just forked may have no environment yet.
    await expect.poll(() => findMarkedProcesses(marker).length).toBeGreaterThan(7);
    using stopwatch = startStopwatch();
    await terminal[Symbol.asyncDispose]();
    expect(stopwatch.elapsedMs()).toBeLessThan(10_000);
    await expect.poll(() => findMarkedProcesses(marker)).toEqual([]);
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
