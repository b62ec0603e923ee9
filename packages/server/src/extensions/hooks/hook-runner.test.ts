import { PassThrough } from "node:stream";
import type { PipedProcess, ToolHost } from "@convoke/tool-host";
import { expect, onTestFinished, test, vi } from "vitest";
import { parseHooks } from "./hook-config.ts";
import { HookRunner } from "./hook-runner.ts";

type Host = Pick<ToolHost, "startProcess">;
const never = new Promise<never>(() => {});

function openRunner(hook: object, toolHost: () => Promise<Host>, ask = (): Promise<string> => never) {
  const parsed = parseHooks({ user_prompt_submit: [{ matcher: "*", hooks: [hook] }] });
  if (!parsed.ok) throw new Error("These hooks are wrong.");
  const deps = { settings: parsed.settings, sessionId: "s", workingDir: "/w", toolHost, ask };
  return new HookRunner({ ...deps, onAsyncEnd: () => {} });
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
