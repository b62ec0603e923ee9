import { expect, test } from "vitest";
import { Signals, type ForwardedSignal } from "../engine/signals.ts";
import { silentLogger } from "../lib/logger.ts";
import { Watches } from "./watch.ts";

const logger = {
  ...silentLogger,
  error: (fields: object) => expect.unreachable(JSON.stringify(fields)),
};

const delta: ForwardedSignal = { type: "delta", plain: "plain", withItem: "item" };

test("what is said here goes to other servers; what another server said goes to sockets alone", () => {
  const signals = new Signals();
  const shown: string[] = [];
  const forwarded: ForwardedSignal[] = [];
  signals.subscribe({ onSignal: (json) => shown.push(json), onProgress: (json) => shown.push(json) });
  signals.subscribe({ onSignal: (json) => shown.push(json), wantsItems: true });
  signals.subscribe({
    onSignal: () => expect.unreachable(),
    onForward: (signal) => forwarded.push(signal),
  });
  signals.emitDelta("plain", "item");
  signals.emitProgress(() => "progress");
  expect(shown.splice(0)).toEqual(["plain", "item", "progress"]);
  expect(forwarded).toEqual([delta, { type: "progress", json: "progress" }]);
  signals.emitForwarded(delta);
  signals.emitForwarded({ type: "progress", json: "progress" });
  expect(shown).toEqual(["plain", "item", "progress"]);
  expect(forwarded).toHaveLength(2);
});

test("a piece of an answer that comes later than an event behind it is dropped", () => {
  const rings: ((lastSeq: number) => void)[] = [];
  const watches = new Watches({
    journal: {
      read: async () => [],
      onAppend: (_, onRing) => {
        rings.push(onRing);
        return () => {};
      },
    },
    frames: {
      fullStateFrame: async () => null,
      liveStatusFrame: async () => null,
      isLoaded: () => false,
    },
    logger,
  });
  const shown: string[] = [];
  const stop = watches.open("local", "a").listen({ onSignal: (json) => shown.push(json) });
  watches.receive("a", delta, null);
  for (const ring of rings) ring(7);
  watches.receive("a", delta, 6);
  expect(shown).toEqual(["plain"]);
  watches.receive("a", delta, 7);
  expect(shown).toEqual(["plain", "plain"]);
  stop();
  watches.receive("a", delta, 7);
  expect(shown).toHaveLength(2);
});

test("a conversation that is made again under its old id is not asked about for whoever watched the one before", () => {
  const rings = new Set<(lastSeq: number) => void>();
  const ring = (lastSeq: number): void => rings.forEach((onRing) => onRing(lastSeq));
  const asked: string[] = [];
  const watches = new Watches({
    journal: {
      read: async () => [],
      onAppend: (_, onRing) => {
        rings.add(onRing);
        return () => void rings.delete(onRing);
      },
    },
    frames: {
      fullStateFrame: async (userId) => {
        asked.push(userId);
        return null;
      },
      liveStatusFrame: async () => null,
      isLoaded: () => false,
    },
    logger,
  });
  const stop = watches.open("ada", "a").listen({});
  ring(7);
  watches.end("a");
  const shown: string[] = [];
  const stopBob = watches.open("bob", "a").listen({ onSignal: (json) => shown.push(json) });
  watches.receive("a", delta, 1);
  ring(2);
  // The client of the one before takes its time to go.
  stop();
  ring(1);
  expect(shown).toEqual(["plain"]);
  expect(asked).toEqual(["bob"]);
  stopBob();
  expect(rings.size).toBe(0);
});
