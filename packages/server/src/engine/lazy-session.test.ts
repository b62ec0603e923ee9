import { expect, onTestFinished, test, vi } from "vitest";
import { LazySession } from "./lazy-session.ts";
import type { ToolBelt } from "./tool-belt.ts";

test("a conversation ends while its tools are being opened, whether that succeeds or fails", async () => {
  const closed: string[] = [];
  const opened = { [Symbol.asyncDispose]: async () => void closed.push("opened") } as unknown as ToolBelt;
  for (const isReachable of [false, true]) {
    const gate = Promise.withResolvers<void>();
    const session = new LazySession(async () => {
      await gate.promise;
      if (!isReachable) throw new Error("The machine is gone.");
      return opened;
    });
    const opening = session.open().catch(() => null);
    const ended = session[Symbol.asyncDispose]();
    gate.resolve();
    await ended;
    await opening;
  }
  expect(closed).toEqual(["opened"]);
});

test("nothing is opened for a conversation that has ended", async () => {
  let count = 0;
  const session = new LazySession(async () => {
    count += 1;
    throw new Error("Nobody would close it.");
  });
  await session[Symbol.asyncDispose]();
  await expect(session.open()).rejects.toMatchObject({ code: "conversation_closing" });
  expect(count).toBe(0);
});

test("other tools are opened once the old ones are closed; tools that cannot be opened are tried again", async () => {
  const calls: string[] = [];
  let count = 0;
  const session = new LazySession(async () => {
    count += 1;
    const name = `${count}`;
    calls.push(`open ${name}`);
    if (count === 2) throw new Error("The machine is gone.");
    return { [Symbol.asyncDispose]: async () => void calls.push(`close ${name}`) } as unknown as ToolBelt;
  });
  session.renew();
  expect(calls).toEqual([]);
  await session.open();
  session.renew();
  await expect(session.open()).rejects.toThrow("The machine is gone.");
  await session.open();
  await session[Symbol.asyncDispose]();
  session.renew();
  expect(calls).toEqual(["open 1", "close 1", "open 2", "open 3", "close 3"]);
});

test("tools that were ordered while the first ones could not be opened are closed at the end too", async () => {
  const gate = Promise.withResolvers<void>();
  const calls: string[] = [];
  let count = 0;
  const session = new LazySession(async () => {
    count += 1;
    if (count > 1)
      return { [Symbol.asyncDispose]: async () => void calls.push("closed") } as unknown as ToolBelt;
    await gate.promise;
    throw new Error("The machine is gone.");
  });
  const first = session.open();
  session.renew();
  gate.resolve();
  await expect(first).rejects.toThrow("The machine is gone.");
  await session.open();
  await session[Symbol.asyncDispose]();
  expect([count, calls]).toEqual([2, ["closed"]]);
});

test("P65: tools are waited for so long at most, and the wait ends with them and leaves no timer behind", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const opened = { [Symbol.asyncDispose]: async () => {} } as unknown as ToolBelt;
  const gates = [Promise.withResolvers<ToolBelt>(), Promise.withResolvers<ToolBelt>()];
  let count = 0;
  await using session = new LazySession(() => gates[count++]!.promise);
  const failed = session.openWithin(1000);
  gates[0]!.reject(new Error("The machine is gone."));
  expect(await failed).toBeNull();
  expect(vi.getTimerCount()).toBe(0);
  const late = session.openWithin(1000);
  vi.advanceTimersByTime(1000);
  expect(await late).toBeNull();
  const inTime = session.openWithin(1000);
  gates[1]!.resolve(opened);
  expect(await inTime).toBe(opened);
  expect(vi.getTimerCount()).toBe(0);
  expect(count).toBe(2);
});
