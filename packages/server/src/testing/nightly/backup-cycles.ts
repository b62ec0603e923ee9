import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { ConvokeProcess } from "../convoke-process.ts";
import { createRandom } from "../random.ts";
import { ServerAtWork } from "../server-at-work.ts";
import { compareRestored, noteBefore } from "./compare-restored.ts";

/**
 * `npx node nightly/backup-cycles.ts --count 50 --seed 1`: runs `convoke backup` of busy servers, started as in the README, at seeded
 * moments. Each copy is checked, a server is started on it as the guide describes a restore, and it is compared with the original
 * server. Every other server has two processes. Exits with 1 when a promise did not hold.
 */
const { values } = parseArgs({
  options: { count: { type: "string", default: "50" }, seed: { type: "string", default: "2026" } },
});
const count = Number(values.count);
const random = createRandom(Number(values.seed));
const backupsPerServer = 5;
const longestPauseMs = 1_500;

await using folder = await openTemporaryDirectory();
let [failed, events, slowestMs] = [0, 0, 0];
const startMs = performance.now();
for (let first = 0; first < count; first += backupsPerServer) {
  const processes = (first / backupsPerServer) % 2 === 0 ? "1" : "2";
  await using atWork = await ServerAtWork.start({ environment: { CONVOKE_PROCESSES: processes } });
  for (let cycle = first; cycle < Math.min(count, first + backupsPerServer); cycle++) {
    await sleep(random.whole(longestPauseMs));
    const wrong = await backUpAndRestore(atWork, join(folder.path, `copy-${cycle}`));
    if (wrong.length === 0) continue;
    failed += 1;
    console.log(JSON.stringify({ cycle, wrong }));
  }
  // Failures that the server's users saw count too.
  await atWork.settle();
  console.log(`${Math.min(count, first + backupsPerServer)} of ${count} backups, ${failed} failures`);
}
const seconds = ((performance.now() - startMs) / 1000).toFixed(0);
console.log(
  `${count} backups in ${seconds} s: ${events} events compared, the slowest backup took ${slowestMs.toFixed(0)} ms, ${failed} failures`,
);
process.exitCode = failed === 0 ? 0 : 1;

async function backUpAndRestore(atWork: ServerAtWork, copy: string): Promise<string[]> {
  const before = await noteBefore(atWork);
  const beganMs = performance.now();
  const backup = await atWork.convoke("backup", "--data-dir", atWork.dataDir, "--to", copy, "--json");
  slowestMs = Math.max(slowestMs, performance.now() - beganMs);
  if (backup.code !== 0) return [`backup ended with ${backup.code}: ${backup.stdout}${backup.stderr}`];
  const checked = await atWork.convoke("doctor", "--check-data", "--data-dir", copy);
  const wrong = checked.code === 0 ? [] : [`doctor ended with ${checked.code}: ${checked.stdout}`];
  {
    await using restored = await ConvokeProcess.start({ dataDir: copy, sandbox: "off" });
    const compared = await compareRestored(atWork, restored, before);
    events += compared.events;
    wrong.push(...compared.wrong);
  }
  await rm(copy, { recursive: true });
  return wrong;
}
