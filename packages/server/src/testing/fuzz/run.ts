import { parseArgs } from "node:util";
import { fuzz } from "./fuzz.ts";

/** `npx node packages/server/src/testing/fuzz/run.ts --count 10000`; `--only` limits it to some operations. */
const { values } = parseArgs({
  options: {
    count: { type: "string", default: "10000" },
    seed: { type: "string", default: "2026" },
    only: { type: "string", default: "" },
    coverage: { type: "boolean", default: false },
  },
});
const startMs = performance.now();
const report = await fuzz({ count: Number(values.count), seed: Number(values.seed), only: values.only });
const grouped = Map.groupBy(
  report.findings,
  ({ what, request, reply }) =>
    `${what} | ${request === "" ? reply.slice(50, 200) : request.split(/[ ?]/, 1)[0]}`,
);
for (const [, [first, ...more]] of grouped) {
  console.log(`\n${first!.what}${more.length > 0 ? ` (${more.length + 1} times)` : ""}`);
  console.log(`  ${first!.request}\n  ${first!.reply}`);
}
if (values.coverage) {
  for (const [name, counts] of Object.entries(report.statuses)) {
    console.log(name, JSON.stringify(counts));
    const isNeverDone = Object.keys(counts).every((status) => status >= "300");
    if (isNeverDone)
      for (const refusal of (report.refusals[name] ?? []).slice(0, 5)) console.log("   ", refusal);
  }
}
const total: Record<string, number> = {};
for (const counts of Object.values(report.statuses)) {
  for (const [status, times] of Object.entries(counts)) total[status] = (total[status] ?? 0) + times;
}
const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
console.log(
  `\n${report.sent} requests to ${report.operations} operations in ${seconds} s: ${report.findings.length} findings; ${JSON.stringify(total)}`,
);
process.exitCode = report.findings.length === 0 ? 0 : 1;
