import type { ToolSession } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { LazySession } from "./lazy-session.ts";

test("a conversation ends while its tools are being opened, whether that succeeds or fails", async () => {
  const closed: string[] = [];
  const opened = { [Symbol.asyncDispose]: async () => void closed.push("opened") } as unknown as ToolSession;
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
