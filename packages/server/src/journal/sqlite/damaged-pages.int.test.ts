import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isDamage } from "../../lib/storage-fault.ts";
import { checkDamagedReads, type WholeLog } from "../../testing/check-damaged-reads.ts";
import { damagePages } from "../../testing/damage-pages.ts";
import { createRandom } from "../../testing/random.ts";
import { startLog } from "../contract.ts";
import { openJournal } from "../open-journal.ts";
import { sampleEvent } from "../sample-events.ts";

/** Six have each kind and size of damage; more with `CONVOKE_EVERY_CASE=1`. */
const rounds = process.env["CONVOKE_EVERY_CASE"] === "1" ? 60 : 6;
let folder: string;
const logs: WholeLog[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "convoke-pages-"));
  await using journal = await openJournal({ dataDir: join(folder, "whole") });
  for (const length of [5, 20, 40, 80, 150]) {
    const lease = await startLog(journal);
    const events = Array.from({ length }, (_, index) => {
      const text = index % 2 === 0 ? `hello ${index} ${"x".repeat(400)}` : null;
      return sampleEvent(index + 1, {
        kind: index % 2 === 0 ? "MessageEvent" : "ActionEvent",
        source: "agent",
        text,
      });
    });
    for (let from = 0; from < length; from += 50)
      await journal.append(lease, {
        expectedSeq: from,
        events: events.slice(from, from + 50),
        conversation: { snapshotSeq: Math.min(length, from + 50) },
      });
    const { conversationId: id } = lease;
    const { ownerId } = (await journal.getConversation(id))!;
    logs.push({ id, ownerId, events: (await journal.read(id, 0, 1000)).map(({ json }) => json) });
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test(
  "P7, F5: over zeroed, random and swapped pages every read ends, and all of them agree",
  { timeout: 300_000 + rounds * 20_000 },
  async () => {
    const found: string[] = [];
    for (let seed = 0; seed < rounds; seed += 1) {
      const dataDir = join(folder, `round ${seed}`);
      await cp(join(folder, "whole"), dataDir, { recursive: true });
      const damage = damagePages(join(dataDir, "journal.db"), createRandom(seed));
      const journal = await openJournal({ dataDir }).catch(onlyDamage);
      if (journal === null) continue;
      const wrong = await checkDamagedReads(journal, logs);
      await journal[Symbol.asyncDispose]();
      found.push(...wrong.map((sentence) => `${seed} (${damage}): ${sentence}`));
    }
    expect(found).toEqual([]);
  },
);

function onlyDamage(error: unknown): null {
  if (!isDamage(error)) throw error;
  return null;
}
