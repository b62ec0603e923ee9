import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import type { Peer } from "./peer.ts";

/** An operation that is repeated in each round, on a conversation with a number of messages. */
export type Operation<P extends Peer = Peer> = {
  readonly id: string;
  readonly name: string;
  readonly times: number;
  readonly stored?: number;
  /** Returns its duration in milliseconds. */
  readonly ask: (peer: P, conversation: string) => Promise<number>;
};

const roundCount = 3;
/** A word in exactly one message of a filled conversation. */
export const needle = "needle";
export const filler = "A sentence as people write it to each other, of an ordinary length. ".repeat(4);

/** Each operation alternates between both servers; ours is the first. */
export async function compare<P extends Peer>(
  prefix: string,
  operations: readonly Operation<P>[],
  peers: readonly [P, P],
): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const { id, name, times, stored = 0, ask } of operations) {
    const asked = await Promise.all(
      peers.map(async (peer) => ({
        peer,
        conversation: await filled(peer, stored),
        durationsMs: [] as number[],
      })),
    );
    for (let round = 0; round <= roundCount; round += 1)
      for (const { peer, conversation, durationsMs } of asked)
        for (let count = 0; count < times; count += 1) {
          const ms = await ask(peer, conversation);
          // The first round warms both up.
          if (round > 0) durationsMs.push(ms);
        }
    const [ours = NaN, theirs = NaN] = asked.map(({ durationsMs }) => percentile(durationsMs, 0.5));
    results.push(result(`${prefix}${id}`, name, "ms", [ours, theirs], peers[1]));
  }
  return results;
}

export function result(
  id: string,
  name: string,
  unit: string,
  [value, other]: readonly [number, number],
  peer: Pick<Peer, "name">,
): BenchResult {
  return {
    id,
    name,
    value,
    unit,
    baseline: { name: peer.name, value: other },
    ratio: value / other,
  };
}

/** A conversation with a number of messages, one of which has a unique word. */
async function filled(peer: Peer, stored: number): Promise<string> {
  const { id } = await peer.create();
  await peer.fill(id, stored, (at) => (at === Math.floor(stored / 2) ? `${filler} ${needle}` : filler));
  return id;
}
