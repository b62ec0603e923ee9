import { PassThrough } from "node:stream";
import type { PipedProcess } from "@convoke/tool-host";
import { expect, onTestFinished, test, vi } from "vitest";
import { runProgram } from "./run-program.ts";

/** A program that has ended well, and what of its output has arrived. */
function endedProgram(): { host: { startProcess: () => PipedProcess }; output: PassThrough } {
  const output = new PassThrough();
  const end = { exitCode: 0, signal: null, errorText: "" };
  const input = new PassThrough();
  const process = { input, output, ended: Promise.resolve(end), [Symbol.asyncDispose]: async () => {} };
  return { host: { startProcess: () => process }, output };
}

test("output that comes after the end of a program is waited for", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { host, output } = endedProgram();
  const running = runProgram(host, ["git"], 20_000);
  output.write("a.txt");
  await vi.advanceTimersByTimeAsync(5_000);
  output.end("\0b.txt\n");
  expect(await running).toEqual({ ok: true, output: "a.txt\0b.txt", problem: "" });
});

test("a program whose output does not come to its end, or breaks, has failed", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const late = endedProgram();
  const running = runProgram(late.host, ["git"], 20_000);
  late.output.write("a.txt");
  await vi.advanceTimersByTimeAsync(20_000);
  expect(await running).toMatchObject({ ok: false, output: "" });
  const broken = endedProgram();
  const breaking = runProgram(broken.host, ["git"], 20_000);
  broken.output.destroy();
  expect(await breaking).toMatchObject({ ok: false, output: "" });
});
