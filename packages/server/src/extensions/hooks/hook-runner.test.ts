import { PassThrough, Readable } from "node:stream";
import type { PipedProcess, ToolHost } from "@convoke/tool-host";
import { expect, onTestFinished, test, vi } from "vitest";
import { parseHooks } from "./hook-config.ts";
import { HookRunner, type HookPlace, type HookRunnerDeps } from "./hook-runner.ts";

type Host = Pick<ToolHost, "startProcess">;
const never = new Promise<never>(() => {});

type Fence = Pick<HookRunnerDeps, "lost"> & Partial<Pick<HookPlace, "beforeStart">>;

function openRunner(
  hook: object,
  toolHost: () => Promise<Host>,
  {
    ask = () => never,
    beforeStart = async () => {},
    ...fence
  }: Fence & { readonly ask?: () => Promise<string> } = {},
) {
  const parsed = parseHooks({ user_prompt_submit: [{ matcher: "*", hooks: [hook] }] }, "request");
  if (!parsed.ok) throw new Error("These hooks are wrong.");
  const place = { openHost: toolHost, beforeStart, ask, asyncEnded: () => {} };
  const deps = { settings: parsed.settings, sessionId: "s", workingDir: "/w", ...fence };
  return new HookRunner({ ...deps, place });
}

/** It never starts, never ends, and cannot be ended. */
const deafProcess = (): PipedProcess => ({
  input: new PassThrough(),
  output: new PassThrough(),
  ended: never,
  [Symbol.asyncDispose]: () => never,
});

test.for([
  ["whose sandbox is never ready", { command: "true", timeout: 5 }, () => never],
  [
    "whose sandbox takes it and is silent",
    { command: "true", timeout: 5 },
    async () => ({ startProcess: deafProcess }),
  ],
  ["whose model is silent", { type: "prompt", prompt: "May it?", timeout: 5 }, () => never],
] as const)("L23.18: a hook %s has failed when its time is over", async ([, hook, toolHost]) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const problem = "It took longer than 5 seconds and was ended.";
  for (const onFailure of ["allow", "deny"]) {
    await using runner = openRunner({ ...hook, on_failure: onFailure }, toolHost);
    const asked = runner.run("user_prompt_submit", { message: "hello" }, new AbortController().signal);
    await vi.advanceTimersByTimeAsync(5_000 + 6_000);
    expect(await asked).toMatchObject({
      isBlocked: onFailure === "deny",
      records: [{ success: false, blocked: onFailure === "deny", exit_code: -1, error: problem }],
    });
  }
});

test("L23.18: a stop does not wait for a sandbox that is never ready", async () => {
  await using runner = openRunner({ command: "true", timeout: 600 }, () => never);
  const stop = new AbortController();
  const asked = runner.run("user_prompt_submit", { message: "hello" }, stop.signal);
  stop.abort();
  expect((await asked).records).toMatchObject([{ error: "It was ended before it came to an end." }]);
});

test.for([
  ["at once", 0],
  ["when its tool host is there", 1],
] as const)(
  "P27: a command waits until its server may start it, %s, which takes nothing of its time",
  async ([, passes]) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const sound = Promise.withResolvers<void>();
    let started = 0;
    let waits = 0;
    const host: Host = {
      startProcess: () => {
        started += 1;
        return {
          ...deafProcess(),
          output: Readable.from([]),
          ended: Promise.resolve({ exitCode: 0, signal: null, errorText: "" }),
          [Symbol.asyncDispose]: async () => {},
        };
      },
    };
    await using runner = openRunner({ command: "true", timeout: 5, on_failure: "deny" }, async () => host, {
      beforeStart: () => (waits++ < passes ? Promise.resolve() : sound.promise),
    });
    const asked = runner.run("user_prompt_submit", { message: "hello" }, new AbortController().signal);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(started).toBe(0);
    sound.resolve();
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await asked).records).toMatchObject([{ success: true, exit_code: 0 }]);
    expect(started).toBe(1);
  },
);

test.for([false, true])(
  "P27: a command whose conversation was lost while it waited does not start, waited for: %s",
  async (isAsync) => {
    const lost = new AbortController();
    const host = {
      startProcess: () => expect.unreachable("A command of another server's conversation has started."),
    };
    const hook = { command: "true", timeout: 600, async: isAsync };
    const waits: Promise<void>[] = [];
    await using runner = openRunner(hook, async () => host, {
      lost: lost.signal,
      beforeStart: (signal) => {
        const wait = new Promise<void>((resolve) => {
          if (signal.aborted) resolve();
          signal.addEventListener("abort", () => resolve());
        });
        waits.push(wait);
        return wait;
      },
    });
    const asked = runner.run("user_prompt_submit", { message: "hello" }, new AbortController().signal);
    expect(waits).toHaveLength(1);
    lost.abort();
    const problem = "It was ended before it came to an end.";
    expect((await asked).records).toMatchObject(isAsync ? [] : [{ success: false, error: problem }]);
  },
);
