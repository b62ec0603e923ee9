import { parseArgs } from "node:util";
import { createRandom } from "../random.ts";
import { probePostgres, startPostgres } from "../start-postgres.ts";
import { playSchedules } from "./play-schedules.ts";
import { ScheduleRig } from "./schedule-rig.ts";

/**
 * `npx node nightly/schedule-kills.ts --schedules 1000 --kills 30 --seconds 240 --seed 1`: three servers on one PostgreSQL with schedules
 * whose due times are all within so many seconds, while servers are killed and started again. Exits with 1 when a due time was lost or
 * started twice. With `--folder` it is one server on a data folder.
 */
const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "1000" },
    kills: { type: "string", default: "30" },
    seconds: { type: "string", default: "240" },
    seed: { type: "string", default: "2026" },
    folder: { type: "boolean", default: false },
  },
});
const probe = probePostgres();
if (!values.folder && !probe.isUsable) {
  console.log(`Nothing was tried: ${probe.detail}`);
  process.exit();
}
const random = createRandom(Number(values.seed));
const startMs = performance.now();
await using postgres = values.folder ? null : await startPostgres();
await using rig = await ScheduleRig.open(postgres, random);
const { dueTimes, started, skipped, wrong, slowestMs } = await playSchedules(rig, {
  schedules: Number(values.schedules),
  kills: Number(values.kills),
  windowMs: Number(values.seconds) * 1_000,
  random,
  onProgress: (line) => console.log(line),
});
for (const line of wrong.slice(0, 20)) console.log(line);
const seconds = ((performance.now() - startMs) / 1_000).toFixed(0);
console.log(
  `${values.schedules} schedules, ${values.kills} kills in ${seconds} s: ${dueTimes} due times, ${started} started, ${skipped} recorded as skipped, the slowest start after ${slowestMs} ms, ${wrong.length} failures`,
);
process.exitCode = wrong.length === 0 ? 0 : 1;
