import { parseArgs } from "node:util";
import { playLogs } from "./play-logs.ts";

/** `npx node strict-logs/run.ts --count 10000`; `--only` names one double, `--doubles` the number of doubles per log. */
const { values } = parseArgs({
  options: {
    count: { type: "string", default: "10000" },
    seed: { type: "string", default: "2026" },
    doubles: { type: "string", default: "100" },
    only: { type: "string", default: "" },
  },
});
const startMs = performance.now();
const { runs, refusals, findings } = await playLogs({
  count: Number(values.count),
  seed: Number(values.seed),
  only: values.only,
  doubles: Number(values.doubles),
});
for (const [, group] of Map.groupBy(
  findings,
  ({ provider, status, detail }) => `${provider} ${status} ${detail.slice(0, 160)}`,
)) {
  const [first] = group;
  console.log(
    `\n${first!.provider}: ${first!.status}, ${group.length} times, first with seed ${first!.seed}\n  ${first!.detail}`,
  );
}
const dead = findings.filter(({ isDead }) => isDead).length;
const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
console.log(
  `\n${values.count} logs, ${runs} runs, ${refusals} refusals in ${seconds} s: ${findings.length} runs ended, ${dead} dead conversations`,
);
process.exitCode = findings.length === 0 ? 0 : 1;
