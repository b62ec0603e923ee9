import { emptyView, foldEvents } from "@convoke/client";
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
  const notes = new WaitNotes({ output, paint, clock: { nowMs: () => Date.now() } });
  let view = emptyView;
  const see = (event: Event): void => notes.see((view = foldEvents(view, [event])));
  return { written, notes, see };
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
const answer = { kind: "ObservationEvent", action_id: "a", observation: {} } as unknown as Event;

test("a terminal is told each second what a run waits for, in a line that the next one takes the place of", () => {
  const { notes, see, written } = open(true);
  using _end = notes;
  vi.advanceTimersByTime(10_000);
  expect(written).toEqual([]);
  see(update("execution_status", "running"));
  vi.advanceTimersByTime(4_000);
  expect(written).toEqual([
    "... waiting for the model (3 s)",
    "\r\u001b[2K",
    "... waiting for the model (4 s)",
  ]);
  written.length = 0;
  see(action);
  notes.write(["  > terminal  make"]);
  expect(written).toEqual(["\r\u001b[2K", "  > terminal  make\n"]);
  written.length = 0;
  vi.advanceTimersByTime(3_000);
  expect(written).toEqual(["... running terminal (3 s)"]);
  see(answer);
  notes.write([]);
  written.length = 0;
  vi.advanceTimersByTime(3_000);
  expect(written).toEqual(["... waiting for the model (3 s)"]);
  see(update("execution_status", "finished"));
  notes.write([]);
  written.length = 0;
  vi.advanceTimersByTime(60_000);
  expect(written).toEqual([]);
});

test("a wait for another try says when it ends; a pipe is told every twenty seconds", () => {
  const { notes, see, written } = open(false);
  using _end = notes;
  see(update("execution_status", "running"));
  const until = new Date(Date.now() + 30_000).toISOString();
  see(update("model_retry", { attempt: 1, code: "LLMRateLimitError", detail: "Slow down.", until }));
  vi.advanceTimersByTime(40_000);
  expect(written).toEqual([
    "... retrying the model call in 10 s (20 s)\n",
    "... waiting for the model (retry) (40 s)\n",
  ]);
  see(update("model_retry", null));
  vi.advanceTimersByTime(20_000);
  expect(written.at(-1)).toBe("... waiting for the model (20 s)\n");
});
