import { setTimeout as sleep } from "node:timers/promises";
import type { BenchNode } from "../node/open-bench-node.ts";
import type { TurnClock } from "./turn-clock.ts";

export type RanTurns = {
  /** Time from the message until the model is called. */
  readonly startMs: number;
  /** Time from one request to the next. */
  readonly turnMs: readonly number[];
};

/** Sends a message, lets the agent take `turns` turns, and waits until the run has ended. */
export async function runTurns(
  node: BenchNode,
  clock: TurnClock,
  id: string,
  turns: number,
): Promise<RanTurns> {
  const conversation = await node.open(id);
  const asked = clock.arm(turns);
  const sentAtMs = performance.now();
  const content = [{ type: "text" as const, text: "Go on." }];
  await conversation.send({ message: { role: "user", content, thinking_blocks: [] }, wantsRun: true });
  const times = await asked;
  while (conversation.isBusy) await sleep(1);
  return {
    startMs: (times[0] ?? Number.NaN) - sentAtMs,
    turnMs: times.slice(1).map((time, index) => time - (times[index] ?? Number.NaN)),
  };
}
