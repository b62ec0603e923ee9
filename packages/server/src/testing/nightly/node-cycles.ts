import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createRandom } from "../random.ts";
import { probePostgres, startPostgres, type TestPostgres } from "../start-postgres.ts";
import { NodeRig, type History } from "./node-rig.ts";

/**
 * `npx node packages/server/src/testing/nightly/node-cycles.ts --count 20 --seed 1`: three servers on one PostgreSQL that are
 * killed, stopped and frozen at seeded moments, while that crashes too, while clients write and follow over all of them. Exits with 1 when a promise did
 * not hold; the seed of the cycle is in the line.
 */
const { values } = parseArgs({
  options: { count: { type: "string", default: "20" }, seed: { type: "string", default: "2026" } },
});
const count = Number(values.count);
const firstSeed = Number(values.seed);
const conversations = 4;
const messages = 6;
const faults = 3;
/** When it is calm, a dead server is found within seven seconds. */
const quietWithinMs = 90_000;

const probe = probePostgres();
if (!probe.isUsable) {
  console.log(`Nothing was tried: ${probe.detail}`);
  process.exit();
}
await using postgres = await startPostgres();
let failed = 0;
let slowestMs = 0;
const startMs = performance.now();
for (let cycle = 0; cycle < count; cycle++) {
  const seed = firstSeed + cycle;
  const wrong = await play(postgres, seed);
  if (wrong.length > 0) {
    failed += 1;
    console.log(JSON.stringify({ seed, wrong }));
  }
}
const seconds = ((performance.now() - startMs) / 1000).toFixed(0);
console.log(
  `${count} cycles in ${seconds} s: ${failed} failures, the slowest message was acknowledged after ${slowestMs.toFixed(0)} ms`,
);
process.exitCode = failed === 0 ? 0 : 1;

async function play(server: TestPostgres, seed: number): Promise<string[]> {
  const random = createRandom(seed);
  await using rig = await NodeRig.open(server, random);
  const ending = new AbortController();
  const histories = await Promise.all(Array.from({ length: conversations }, () => rig.begin(randomUUID())));
  const following = Promise.all(histories.map((history) => rig.follow(history, ending.signal)));
  const done: string[] = [];
  const faulting = (async (): Promise<void> => {
    for (let number = 0; number < faults; number++) {
      await sleep(random.whole(2_000));
      done.push(await rig.fault());
    }
  })();
  await Promise.all(
    histories.map(async (history) => {
      for (let number = 0; number < messages; number++) {
        await sleep(random.whole(1_500));
        const sentMs = performance.now();
        await rig.send(history, `${history.id} ${number}`);
        slowestMs = Math.max(slowestMs, performance.now() - sentMs);
      }
    }),
  );
  await faulting;
  const wrong = [...rig.faults];
  for (const history of histories) wrong.push(...(await check(rig, history)));
  ending.abort();
  await following;
  return wrong.length === 0 ? [] : [...done, ...wrong];
}

/** What did not hold of one conversation, once it is quiet. */
async function check(rig: NodeRig, history: History): Promise<string[]> {
  const { id, acknowledged, followed } = history;
  const deadlineMs = performance.now() + quietWithinMs;
  while ((await rig.client.getConversation(id)).execution_status !== "finished") {
    if (performance.now() > deadlineMs) return [`${id} did not come to its end`];
    await sleep(50);
  }
  const [stored, ...others] = await Promise.all([0, 1, 2].map((index) => rig.eventsOf(id, index)));
  const ids = stored!.map((event) => event.id ?? "");
  while (followed.at(-1) !== ids.at(-1)) {
    if (performance.now() > deadlineMs)
      return [`${id}: the follower has ${followed.length} of ${ids.length} events`];
    await sleep(50);
  }
  const told = stored!.flatMap((event) =>
    event.kind === "MessageEvent" && event.source === "user" ? [event.id] : [],
  );
  const calls = stored!.filter(({ kind }) => kind === "ActionEvent").length;
  const answers = stored!.filter(
    ({ kind }) => kind === "ObservationEvent" || kind === "AgentErrorEvent",
  ).length;
  const made = await rig.marksOf(id);
  const rules: readonly (readonly [string, boolean])[] = [
    [
      "the servers read different logs",
      others.every((log) => JSON.stringify(log) === JSON.stringify(stored)),
    ],
    ["ids do not grow", isGrowing(ids)],
    ["P1: the follower has another log", JSON.stringify(followed) === JSON.stringify(ids)],
    ["an acknowledged message is not there", [...acknowledged.values()].every((one) => told.includes(one))],
    ["P18: a message is there twice, or was lost", told.length === acknowledged.size + 1],
    ["P6: a command ran twice", made.length === new Set(made).size],
    ["a call has no answer, or two", calls === answers],
  ];
  return rules.flatMap(([sentence, holds]) => (holds ? [] : [`${id}: ${sentence}`]));
}

function isGrowing(ids: readonly string[]): boolean {
  return ids.every((one, index) => index === 0 || one > ids[index - 1]!);
}
