import { parseArgs } from "node:util";
import { crashFaults } from "../crash-faults.ts";
import { countPassages, crashAfter, crashAt, type Passage } from "../crash-harness.ts";
import { createRandom } from "../random.ts";

/**
 * `npx node nightly/kill-cycles.ts --count 500 --seed 1`: servers are killed with -9, half of them at a seeded passage of a fail point,
 * half at a seeded moment. Exits with 1 when a promise did not hold.
 */
const { values } = parseArgs({
  options: { count: { type: "string", default: "500" }, seed: { type: "string", default: "2026" } },
});
const count = Number(values.count);
const random = createRandom(Number(values.seed));
const longestPlayMs = 900;
/** The limit of B13 on the same node. Only checked alone: beside other suites the machine would be measured. */
const recoveryMs = 5_000;
/** Points at which a command may or may not have had its effect when the server died. */
const unknownOutcomes = ["tool.before", "tool.after"];

type Cycle = { readonly at: Passage } | { readonly afterMs: number };

const passages = await countPassages();
const cycles: Cycle[] = Array.from({ length: count }, (_, index) =>
  index % 2 === 0
    ? { at: passages[random.whole(passages.length)]! }
    : { afterMs: 5 + random.whole(longestPlayMs) },
);
let done = 0;
let killed = 0;
let worstRecoveryMs = 0;
const failures: object[] = [];
const startMs = performance.now();

async function play(cycle: Cycle): Promise<void> {
  const result = await ("at" in cycle ? crashAt(cycle.at) : crashAfter(cycle.afterMs));
  const mayBeUnknown = !("at" in cycle) || unknownOutcomes.includes(cycle.at.point);
  const wrong = crashFaults(result, mayBeUnknown);
  if (result.recoveredMs > recoveryMs) wrong.push(`recovery took ${result.recoveredMs} ms`);
  if (result.wasKilled) killed += 1;
  worstRecoveryMs = Math.max(worstRecoveryMs, result.recoveredMs);
  if (wrong.length > 0) {
    failures.push({ ...cycle, wrong });
    console.log(JSON.stringify({ ...cycle, wrong }));
  }
  done += 1;
  if (done % 50 === 0)
    console.log(`${done} of ${count} cycles, ${killed} killed, ${failures.length} failures`);
}

const waiting = [...cycles];
const worker = async (): Promise<void> => {
  for (let cycle = waiting.shift(); cycle !== undefined; cycle = waiting.shift()) await play(cycle);
};
await Promise.all([worker(), worker()]);
const seconds = ((performance.now() - startMs) / 1000).toFixed(0);
console.log(
  `${count} cycles in ${seconds} s: ${killed} servers killed, slowest recovery ${worstRecoveryMs.toFixed(0)} ms, ${failures.length} failures`,
);
process.exitCode = failures.length === 0 ? 0 : 1;
