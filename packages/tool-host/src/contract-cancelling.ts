import { expect, test } from "vitest";
import { type HostUnderTest, openBench, run, textOutcome } from "./testing/open-bench.ts";

/** The part of `describeToolHost` about calls that are stopped. */
export function testCancelling(open: () => Promise<HostUnderTest>): void {
  test("P43: cancel stops the running tool; ten times, late and for unknown ids it does nothing more", async () => {
    const bench = await openBench(open);
    const session = await bench.openSession();
    const running = run(session, "a", "hold:x");
    await bench.waitForRuns(["x"]);
    await Promise.all(Array.from({ length: 10 }, () => session.cancel("a")));
    const outcome = await running;
    expect(outcome).toMatchObject({ type: "cancelled" });
    await session.cancel("a");
    await session.cancel("never");
    expect(await session.state("a")).toEqual({ type: "finished", outcome });
    expect(await run(session, "b", "say:next")).toEqual(textOutcome("next"));
  });

  test("P43: any caller's abort stops the execution; the callers get one outcome", async () => {
    const bench = await openBench(open);
    const session = await bench.openSession();
    const controller = new AbortController();
    const first = run(session, "a", "hold:x");
    const second = run(session, "a", "hold:x", { signal: controller.signal });
    await bench.waitForRuns(["x"]);
    controller.abort();
    expect(await first).toMatchObject({ type: "cancelled" });
    expect(await second).toEqual(await first);
  });

  test("P43: a tool that does not stop is abandoned, its late result is dropped, the next call works", async () => {
    const bench = await openBench(open);
    const session = await bench.openSession();
    const running = run(session, "a", "stubborn:x");
    await bench.waitForRuns(["x"]);
    await session.cancel("a");
    const outcome = await running;
    expect(outcome).toMatchObject({ type: "cancelled", text: expect.stringContaining("restarted") });
    expect(await run(session, "b", "say:next")).toEqual(textOutcome("next"));
    await bench.release("x");
    expect(await run(session, "c", "say:last")).toEqual(textOutcome("last"));
    expect(await session.state("a")).toEqual({ type: "finished", outcome });
  });

  test("P43: a call that is cancelled while it waits, or before, never runs", async () => {
    const bench = await openBench(open);
    const session = await bench.openSession();
    const running = run(session, "a", "hold:x");
    await bench.waitForRuns(["x"]);
    const waiting = run(session, "b", "say:waiting");
    await session.cancel("b");
    expect(await waiting).toMatchObject({ type: "cancelled" });
    expect(await run(session, "c", "say:late", { signal: AbortSignal.abort() })).toMatchObject({
      type: "cancelled",
    });
    await bench.release("x");
    await running;
    expect(await run(session, "b", "say:waiting")).toEqual(await waiting);
    expect(await bench.runs()).toEqual(["x"]);
  });
}
