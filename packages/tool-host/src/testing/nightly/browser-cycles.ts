import { parseArgs } from "node:util";
import { createBrowserBench } from "../../tools/browser/testing/browser-bench.ts";
import { findChromium, stillRunning } from "../../tools/browser/testing/chromium-processes.ts";
import { openLocalPlace } from "../../tools/browser/testing/local-place.ts";

/**
 * `npx node testing/nightly/browser-cycles.ts --count 200`: runs conversations with a browser one after another and kills the browser
 * in every tenth. Exits with 1 when processes accumulate or are left at the end.
 */
const { values } = parseArgs({ options: { count: { type: "string", default: "200" } } });
const count = Number(values.count);
const failures: string[] = [];
const place = await openLocalPlace();
const bench = createBrowserBench(place);
let early = 0;
let last = 0;
for (let round = 1; round <= count; round++) {
  const surfer = await bench.surf();
  const opened = await surfer.open("/storage");
  if (opened.isError) failures.push(`round ${round}: ${opened.text}`);
  last = findChromium(process.pid).length;
  // The first rounds show how many processes one conversation takes.
  if (round <= 5) early = Math.max(early, last);
  if (round % 10 === 0) for (const { pid } of findChromium(process.pid)) process.kill(pid, "SIGKILL");
  await surfer[Symbol.asyncDispose]();
}
// One may be exiting while the next one starts.
if (last > early + 2) failures.push(`a conversation takes ${last} processes, and took ${early}`);
const running = findChromium(process.pid);
await place[Symbol.asyncDispose]();
const left = stillRunning(running).length + findChromium(process.pid).length;
if (left > 0) failures.push(`${left} processes are left`);
console.log(
  `${count} conversations, ${early} processes in the first, ${last} in the last, ${left} at the end`,
);
if (failures.length > 0) console.error(failures.join("\n"));
process.exitCode = failures.length === 0 ? 0 : 1;
