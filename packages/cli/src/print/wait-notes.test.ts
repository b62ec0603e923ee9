import type { Event } from "@convoke/protocol";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { WaitNotes } from "./wait-notes.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const plain = (text: string): string => text;
const paint = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain };

function open(isTTY: boolean) {
  const written: string[] = [];
  const output = { isTTY, write: (text: string) => written.push(text) };
  return { written, notes: new WaitNotes({ output, paint, nowMs: Date.now }) };
}

function update(key: string, value: unknown): Event {
  return { kind: "ConversationStateUpdateEvent", source: "environment", key, value };
}

const action = {
  kind: "ActionEvent",
  id: "a",
  tool_name: "terminal",
  action: { kind: "TerminalAction" },
} as unknown as Event;
const answer = { kind: "ObservationEvent", action_id: "a" } as unknown as Event;

test("a terminal is told each second what a run waits for, in a line that the next one takes the place of", () => {
  const { notes, written } = open(true);
  using _end = notes;
  vi.advanceTimersByTime(10_000);
  expect(written).toEqual([]);
  notes.see(update("execution_status", "running"));
  vi.advanceTimersByTime(4_000);
  expect(written).toEqual([
    "... waiting for the model (3 s)",
    "\r\u001b[2K",
    "... waiting for the model (4 s)",
  ]);
  written.length = 0;
  notes.see(action);
  notes.write(["  > terminal  make"]);
  expect(written).toEqual(["\r\u001b[2K", "  > terminal  make\n"]);
  written.length = 0;
  vi.advanceTimersByTime(3_000);
  expect(written).toEqual(["... terminal at work (3 s)"]);
  notes.see(answer);
  notes.write([]);
  written.length = 0;
  vi.advanceTimersByTime(3_000);
  expect(written).toEqual(["... waiting for the model (3 s)"]);
  notes.see(update("execution_status", "finished"));
  notes.write([]);
  written.length = 0;
  vi.advanceTimersByTime(60_000);
  expect(written).toEqual([]);
});

test("a wait for another try says when it ends; a pipe is told every twenty seconds", () => {
  const { notes, written } = open(false);
  using _end = notes;
  notes.see(update("execution_status", "running"));
  const until = new Date(Date.now() + 30_000).toISOString();
  notes.see(update("model_retry", { attempt: 1, code: "LLMRateLimitError", detail: "Slow down.", until }));
  vi.advanceTimersByTime(40_000);
  expect(written).toEqual([
    "... the model is asked again in 10 s (20 s)\n",
    "... waiting for the model, which was asked again (40 s)\n",
  ]);
  notes.see(update("model_retry", null));
  vi.advanceTimersByTime(20_000);
  expect(written.at(-1)).toBe("... waiting for the model (20 s)\n");
});
