import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openLimitedDisk, type LimitedDisk } from "../limited-disk.ts";
import { createRandom } from "../random.ts";
import {
  findDatabaseUser,
  probePostgres,
  standbySettings,
  startPostgres,
  type TestPostgres,
} from "../start-postgres.ts";
import { faultsHere, nodeFaults, type NodeFault } from "./node-faults.ts";
import { NodeRig } from "./node-rig.ts";
import { playNodeCycle } from "./play-node-cycle.ts";

const seed = 2026;
/** Each fault once. */
const cycles = nodeFaults.length;
const probe = probePostgres();
const isPossible = probe.isUsable && !probe.isGiven;
const without = canFill() ? "" : ", without a disk that is full: that needs root";

// The faults need the socket of a server of ours. `node-cycles.ts` runs more and longer ones.
describe.skipIf(!isPossible)(`three servers on PostgreSQL (${probe.detail})`, () => {
  let disk: LimitedDisk | null;
  let postgres: TestPostgres;
  beforeAll(async () => {
    disk = openDisk();
    postgres = await startPostgres(undefined, undefined, standbySettings);
  });
  afterAll(async () => {
    await postgres[Symbol.asyncDispose]();
    disk?.[Symbol.dispose]();
  });

  test(`P1, P2, P6, P7, P18, P26, P27, P28, P48: ${cycles} cycles of faults under load (seed ${seed})${without}`, async () => {
    const random = createRandom(seed);
    await using rig = await NodeRig.open({ postgres, random, disk, commands: 2, commandSeconds: 0.1 });
    const kinds = faultsHere(rig);
    for (let cycle = 0; cycle < cycles; cycle++) {
      const fault: NodeFault = kinds[cycle % kinds.length]!;
      const { wrong } = await playNodeCycle(rig, {
        conversations: 2,
        messages: 2,
        faults: [fault],
        longestPauseMs: 200,
        longestOutageMs: 400,
      });
      expect(wrong, `seed ${seed}, cycle ${cycle}`).toEqual([]);
    }
  });
});

function openDisk(): LimitedDisk | null {
  return openLimitedDisk({ megabytes: 96, owner: findDatabaseUser() });
}

function canFill(): boolean {
  using tried = isPossible ? openDisk() : null;
  return tried !== null;
}
