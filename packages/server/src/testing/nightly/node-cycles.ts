import path from "node:path";
import { parseArgs } from "node:util";
import { openLimitedDisk } from "../limited-disk.ts";
import { createRandom } from "../random.ts";
import { whyNoPgbouncer } from "../start-pgbouncer.ts";
import { findDatabaseUser, probePostgres, standbySettings, startPostgres } from "../start-postgres.ts";
import { faultsHere, nodeFaults, type NodeFault } from "./node-faults.ts";
import { NodeRig } from "./node-rig.ts";
import { playNodeCycle } from "./play-node-cycle.ts";
import { openReleaseBeside } from "./release-beside.ts";

/**
 * `npx node nightly/node-cycles.ts --count 20 --seed 1`: three servers on one PostgreSQL that are killed, stopped, frozen and cut off at
 * seeded moments, whose clocks jump and whose database crashes and fills its disk, while clients write and follow on all of them.
 * `--only kill,cut` selects faults. With `--pooled` the servers, including each start, reach the database through a pooler in
 * transaction mode. With `--mixed` each start uses either these sources or those of the last release, or without one those of ten
 * commits ago; `--beside <folder>` names a clone of another one, in which `npm ci` was run. Exits with 1 when a promise did not hold;
 * the line contains the seed of the cycle.
 */
const { values } = parseArgs({
  options: {
    count: { type: "string", default: "20" },
    seed: { type: "string", default: "2026" },
    only: { type: "string", default: nodeFaults.join(",") },
    beside: { type: "string" },
    mixed: { type: "boolean", default: false },
    pooled: { type: "boolean", default: false },
  },
});
const count = Number(values.count);
const firstSeed = Number(values.seed);
/** One set of servers runs this many cycles, as far as its processes live that long. */
const cyclesPerRig = 5;
const faultsPerCycle = 2;

const probe = probePostgres();
if (!probe.isUsable) {
  console.log(`Nothing was tried: ${probe.detail}`);
  process.exit();
}
using disk = probe.isGiven ? null : openLimitedDisk({ megabytes: 96, owner: findDatabaseUser() });
await using postgres = await startPostgres(undefined, undefined, standbySettings);
if (disk === null) console.log("No disk is filled: that needs a PostgreSQL of its own, and root.");
using release = values.mixed ? openReleaseBeside(10) : null;
if (release !== null) console.log(`Beside ${release.name}.`);
else if (values.mixed) console.log("Nothing was mixed: that needs a clone with its history.");
const beside = values.beside === undefined ? release?.folder : path.resolve(values.beside);
const noPooler = values.pooled ? whyNoPgbouncer() : null;
if (noPooler !== null) {
  console.log(`Nothing was tried: ${noPooler}`);
  process.exit();
}
const options = {
  postgres,
  isPooled: values.pooled,
  disk,
  commands: 5,
  commandSeconds: 0.7,
  ...(beside === undefined ? {} : { otherRelease: beside }),
};
const played = new Map<NodeFault, number>();
let failed = 0;
let slowestMs = 0;
const startMs = performance.now();
for (let first = 0; first < count; first += cyclesPerRig) {
  const random = createRandom(firstSeed + first);
  await using rig = await NodeRig.open({ ...options, random });
  const kinds = faultsHere(rig).filter((fault) => values.only.split(",").includes(fault));
  for (let cycle = first; cycle < Math.min(count, first + cyclesPerRig); cycle++) {
    const faults = Array.from({ length: faultsPerCycle }, () => kinds[random.whole(kinds.length)]!);
    for (const fault of faults) played.set(fault, (played.get(fault) ?? 0) + 1);
    // Most faults are short, so that servers come back to their conversations; some so long that other nodes take over.
    const longestOutageMs = random.whole(4) === 0 ? 20_000 : 3_000;
    const { wrong, slowestMs: ownMs } = await playNodeCycle(rig, {
      conversations: 4,
      messages: 4,
      faults,
      longestPauseMs: 1_000,
      longestOutageMs,
    });
    slowestMs = Math.max(slowestMs, ownMs);
    if (wrong.length === 0) continue;
    failed += 1;
    console.log(JSON.stringify({ seed: firstSeed + first, cycle: cycle - first, wrong }));
  }
  console.log(`${Math.min(count, first + cyclesPerRig)} of ${count} cycles, ${failed} failures`);
}
const seconds = ((performance.now() - startMs) / 1000).toFixed(0);
console.log(
  `${count} cycles in ${seconds} s: ${failed} failures, the slowest message was acknowledged after ${slowestMs.toFixed(0)} ms`,
);
console.log([...played].map(([fault, times]) => `${fault} ${times}`).join(", "));
process.exitCode = failed === 0 ? 0 : 1;
