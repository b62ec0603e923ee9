import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { checkHistory } from "./node-checks.ts";
import { playFault, type NodeFault } from "./node-faults.ts";
import type { NodeRig } from "./node-rig.ts";

export type NodeCycle = {
  readonly conversations: number;
  readonly messages: number;
  readonly faults: readonly NodeFault[];
  /** Milliseconds between two messages, and before a fault. */
  readonly longestPauseMs: number;
  readonly longestOutageMs: number;
};

export type PlayedCycle = {
  /** The faults, then the broken promises; empty when all held. */
  readonly wrong: readonly string[];
  readonly slowestMs: number;
};

/** Clients write and follow on all servers while faults happen; then everything they saw is compared with the stored logs. */
export async function playNodeCycle(rig: NodeRig, cycle: NodeCycle): Promise<PlayedCycle> {
  const { random, commands } = rig.options;
  let slowestMs = 0;
  rig.faults.length = 0;
  rig.histories.length = 0;
  const ending = new AbortController();
  const histories = await Promise.all(
    // The last conversation exceeds its budget before it is done.
    Array.from({ length: cycle.conversations }, (_, index) =>
      rig.begin(randomUUID(), index === cycle.conversations - 1 ? Math.floor(commands / 2) : null),
    ),
  );
  const following = Promise.all(histories.map((history) => rig.follow(history, ending.signal)));
  const done: string[] = [];
  const faulting = (async (): Promise<void> => {
    for (const fault of cycle.faults) {
      await sleep(random.whole(cycle.longestPauseMs));
      done.push(await playFault(rig, fault, cycle.longestOutageMs));
    }
  })();
  await Promise.all(
    histories.map(async (history) => {
      for (let number = 0; number < cycle.messages; number++) {
        await sleep(random.whole(cycle.longestPauseMs));
        const sentMs = performance.now();
        await rig.send(history, `${history.id} ${number}`);
        slowestMs = Math.max(slowestMs, performance.now() - sentMs);
      }
    }),
  );
  await faulting;
  const found = (await Promise.all(histories.map((history) => checkHistory(rig, history)))).flat();
  ending.abort();
  await following;
  const wrong = [...new Set(rig.faults), ...found];
  return { wrong: wrong.length === 0 ? [] : [...done, ...wrong], slowestMs };
}
