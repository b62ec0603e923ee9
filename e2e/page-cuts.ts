import { isDeepStrictEqual, parseArgs } from "node:util";
import { cutScript, playCuts } from "./cut-journey.ts";
import { noBrowser, WebBrowser } from "./web-browser.ts";

/**
 * `npx node e2e/page-cuts.ts --count 200 --seed 1`, after `npm run build`: the page while its connection is cut, its server killed and its
 * device asleep. Exits with 1 when it did not show every event of the log once.
 */
const { values } = parseArgs({
  options: { count: { type: "string", default: "200" }, seed: { type: "string", default: "2026" } },
});
const count = Number(values.count);
if (noBrowser !== null) throw new Error(noBrowser);
await using web = await WebBrowser.open(cutScript(count), undefined, "own");
const startMs = performance.now();
const { stored, shown, wasReloaded, caughtUpMs } = await playCuts(web, {
  count,
  seed: Number(values.seed),
  killEvery: 10,
  sleepEvery: 25,
  sleepMs: 30_000,
});
const expected = Array.from({ length: count }, (_, number) => [`talk ${number}`, `Answer ${number}`]).flat();
const isHeld = isDeepStrictEqual(stored, expected) && isDeepStrictEqual(shown, stored) && !wasReloaded;
const sorted = caughtUpMs.toSorted((left, right) => left - right);
console.log(
  `${count} cuts in ${((performance.now() - startMs) / 1_000).toFixed(0)} s: ${stored.length} messages stored, ${shown.length} shown; ` +
    `caught up after ${sorted[count >> 1]?.toFixed(0)} ms in the middle, ${sorted.at(-1)?.toFixed(0)} ms at most; faults: ${web.faults.length}`,
);
if (!isHeld) console.log(JSON.stringify({ stored, shown, wasReloaded }));
for (const fault of web.faults) console.log(fault);
process.exitCode = isHeld && web.faults.length === 0 ? 0 : 1;
