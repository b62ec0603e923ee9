import type { ConversationExecutionStatus } from "@convoke/protocol";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RunEnd } from "./run-end.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => vi.useRealTimers());

function world(): { readonly end: RunEnd; readonly told: string[]; become(status: string): void } {
  let now = "finished";
  const told: string[] = [];
  const log = {
    get state() {
      return { status: now as ConversationExecutionStatus, lastUserMessageId: null };
    },
  };
  const end = new RunEnd({ published: { publish: () => told.push(now) }, log });
  return { end, told, become: (status) => (now = status) };
}

describe("the end of a run", () => {
  test("a quick run is told once more, for who was not listening yet", () => {
    const { end, told } = world();
    end.begin();
    end.tell();
    expect(told).toEqual(["finished"]);
    vi.advanceTimersByTime(5_000);
    expect(told).toEqual(["finished", "finished"]);
  });

  test("a run of more than a second is told once", () => {
    const { end, told } = world();
    end.begin();
    vi.advanceTimersByTime(1_000);
    end.tell();
    vi.advanceTimersByTime(5_000);
    expect(told).toEqual(["finished"]);
  });

  test("nothing is told again after a newer message", () => {
    const { end, told, ...the } = world();
    end.begin();
    end.tell();
    the.become("idle");
    vi.advanceTimersByTime(5_000);
    expect(told).toEqual(["finished"]);
  });

  test("nor when the next run has begun, nor after the end of the conversation's stay", () => {
    const { end, told } = world();
    end.begin();
    end.tell();
    end.begin();
    vi.advanceTimersByTime(5_000);
    end.tell();
    end[Symbol.dispose]();
    vi.advanceTimersByTime(5_000);
    expect(told).toEqual(["finished", "finished"]);
  });
});
