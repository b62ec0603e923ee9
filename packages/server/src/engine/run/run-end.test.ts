import type { ConversationExecutionStatus } from "@convoke/protocol";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RunEnd } from "./run-end.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => vi.useRealTimers());

function world(): { readonly end: RunEnd; readonly statuses: string[]; become(status: string): void } {
  let now = "finished";
  const statuses: string[] = [];
  const log = {
    get state() {
      return { status: now as ConversationExecutionStatus, lastUserMessageId: null };
    },
  };
  const end = new RunEnd({ published: { publish: () => statuses.push(now) }, log });
  return { end, statuses, become: (status) => (now = status) };
}

describe("the end of a run", () => {
  test("a quick run is told once more, for who was not listening yet", () => {
    const { end, statuses } = world();
    end.begin();
    end.publish();
    expect(statuses).toEqual(["finished"]);
    vi.advanceTimersByTime(5_000);
    expect(statuses).toEqual(["finished", "finished"]);
  });

  test("a run of more than a second is told once", () => {
    const { end, statuses } = world();
    end.begin();
    vi.advanceTimersByTime(1_000);
    end.publish();
    vi.advanceTimersByTime(5_000);
    expect(statuses).toEqual(["finished"]);
  });

  test("nothing is told again after a newer message", () => {
    const { end, statuses, ...the } = world();
    end.begin();
    end.publish();
    the.become("idle");
    vi.advanceTimersByTime(5_000);
    expect(statuses).toEqual(["finished"]);
  });

  test("nor when the next run has begun, nor after the end of the conversation's stay", () => {
    const { end, statuses } = world();
    end.begin();
    end.publish();
    end.begin();
    vi.advanceTimersByTime(5_000);
    end.publish();
    end[Symbol.dispose]();
    vi.advanceTimersByTime(5_000);
    expect(statuses).toEqual(["finished", "finished"]);
  });
});
