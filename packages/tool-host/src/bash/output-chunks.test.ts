import { expect, onTestFinished, test, vi } from "vitest";
import { OutputChunks } from "./output-chunks.ts";
import type { OutputChunk } from "./output-chunks.ts";

function collect(limits: { maxChunk?: number; longestOutput?: number; tail?: number } = {}) {
  const chunks: OutputChunk[] = [];
  const output = new OutputChunks({
    secrets: [{ name: "TOKEN", value: "canary-secret" }],
    onChunk: (chunk) => chunks.push(chunk),
    limits: { holdMs: 60_000, ...limits },
  });
  return { output, chunks };
}

test("a character that arrives in two reads is one character", () => {
  const { output, chunks } = collect();
  const bytes = Buffer.from("é€😀");
  for (const byte of bytes) output.push("stdout", Buffer.from([byte]));
  expect(output.end(false)).toEqual({ stdout: "é€😀", stderr: "" });
  expect(chunks).toEqual([]);
});

test("chunks have a maximum length, split no character, and join to the whole", () => {
  const { output, chunks } = collect({ maxChunk: 7 });
  output.push("stdout", Buffer.from("😀".repeat(20)));
  output.push("stderr", Buffer.from("e".repeat(20)));
  const end = output.end(false);
  const every = [...chunks, end];
  expect(every.every(({ stdout, stderr }) => stdout.length + stderr.length <= 7)).toBe(true);
  expect(every.every(({ stdout }) => stdout.isWellFormed())).toBe(true);
  expect(every.map(({ stdout }) => stdout).join("")).toBe("😀".repeat(20));
  expect(every.map(({ stderr }) => stderr).join("")).toBe("e".repeat(20));
});

test("P13: a secret split over two chunks is masked, and its beginning is not emitted", () => {
  const { output, chunks } = collect({ maxChunk: 1 });
  output.push("stdout", Buffer.from("a canary-"));
  output.push("stdout", Buffer.from("secret b"));
  const end = output.end(false);
  const text = [...chunks, end].map(({ stdout }) => stdout).join("");
  expect(text).toBe("a <secret-hidden> b");
});

test("of a too long output the beginning and the end stay, with the number of missing characters", () => {
  const { output, chunks } = collect({ maxChunk: 10, longestOutput: 50, tail: 10 });
  for (let index = 0; index < 100; index += 1) output.push("stdout", Buffer.from("0123456789"));
  output.push("stdout", Buffer.from("the end"));
  const end = output.end(false);
  const text = [...chunks, end].map(({ stdout }) => stdout).join("");
  expect(text).toBe(`${"0123456789".repeat(5)}\n[947 characters were left out here]\n789the end`);
});

test.each([
  [true, "a <secret-hidden>"],
  [false, "a canary-va"],
])("P13: half a secret at the end of what was cut off (%s) is %j", (isCut, stdout) => {
  const secrets = [{ name: "S", value: "canary-value-9" }];
  const output = new OutputChunks({ secrets, onChunk: () => {} });
  output.push("stdout", Buffer.from("a canary-va"));
  expect(output.end(isCut)).toEqual({ stdout, stderr: "" });
});

test("stress 5: a flood of 5 MB makes few chunks, a line after a silence is emitted at once", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const chunks: OutputChunk[] = [];
  const output = new OutputChunks({ secrets: [], onChunk: (chunk) => chunks.push(chunk) });
  const count = (): number => chunks.splice(0).length;
  for (let sent = 0; sent < 5_000_000; sent += 64_000) output.push("stdout", Buffer.from("x".repeat(64_000)));
  expect(count()).toBeLessThan(20);
  vi.advanceTimersByTime(3_000);
  count();
  output.push("stdout", Buffer.from("a line"));
  vi.advanceTimersByTime(50);
  expect(count()).toBe(1);
  // A hundred lines a second for a minute.
  for (let line = 0; line < 6_000; line += 1) {
    output.push("stdout", Buffer.from("a line"));
    vi.advanceTimersByTime(10);
  }
  expect(count()).toBeLessThan(70);
});
