import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRandom } from "../random.ts";
import { probePostgres, startPostgres, type TestPostgres } from "../start-postgres.ts";
import { playSchedules } from "./play-schedules.ts";
import { ScheduleRig } from "./schedule-rig.ts";

const seed = 2026;
const probe = probePostgres();

// `schedule-kills.ts` has more schedules and kills.
describe.skipIf(!probe.isUsable)(`schedules of three servers on PostgreSQL (${probe.detail})`, () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(async () => {
    await postgres[Symbol.asyncDispose]();
  });

  test(`P66: servers that are killed lose no due time, and start none twice (seed ${seed})`, async () => {
    const random = createRandom(seed);
    await using rig = await ScheduleRig.open(postgres, random);
    const { wrong, dueTimes } = await playSchedules(rig, {
      schedules: 30,
      kills: 2,
      windowMs: 5_000,
      random,
      onProgress: () => {},
    });
    expect(wrong, `seed ${seed}`).toEqual([]);
    expect(dueTimes).toBeGreaterThanOrEqual(30);
  }, 300_000);
});
