import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConversationQuery, Journal } from "../../packages/server/src/journal/journal.ts";
import { openJournal } from "../../packages/server/src/journal/open-journal.ts";
import { sampleConversation } from "../../packages/server/src/journal/sample-events.ts";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "./percentile.ts";

/** P38 and B14: lists of conversations, first and deep pages; B1: opening a folder with many conversations. */
export async function run(): Promise<BenchResult[]> {
  const dataDir = mkdtempSync(join(tmpdir(), "convoke-bench-"));
  try {
    const seeded = await openJournal({ dataDir });
    await seed(seeded);
    await seeded[Symbol.asyncDispose]();

    const startedAt = performance.now();
    await using journal = await openJournal({ dataDir });
    const openMs = performance.now() - startedAt;
    const empty = await measureEmptyOpen();
    return [
      {
        id: "B1.journal",
        name: `opening a folder with ${conversationCount} conversations`,
        value: openMs,
        unit: "ms",
        baseline: { name: "opening an empty folder", value: empty },
        ratio: openMs / empty,
      },
      await measureList(journal, "owner", { ownerId: "owner-1" }),
      await measureList(journal, "status", { executionStatus: "idle" }),
      await measureList(journal, "owner and status", { ownerId: "owner-1", executionStatus: "paused" }),
      await measureList(journal, "no filter", {}),
    ];
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

const conversationCount = 100_000;
const pageSize = 50;
const sorts = ["CREATED_AT", "CREATED_AT_DESC", "UPDATED_AT", "UPDATED_AT_DESC"] as const;

/** 2,000 of the conversations belong to the first owner. */
async function seed(journal: Journal): Promise<void> {
  const statuses = ["idle", "idle", "finished", "paused", "error"];
  for (let start = 0; start < conversationCount; start += 5000) {
    await Promise.all(
      Array.from({ length: 5000 }, (_, offset) => {
        const index = start + offset;
        return journal.createConversation(
          sampleConversation(`conversation-${index}`, {
            ownerId: index % 50 === 0 ? "owner-1" : `owner-${2 + (index % 997)}`,
            executionStatus: statuses[Math.floor(index / 50) % statuses.length] ?? "idle",
            createdAtMicros: 1_000_000 + index,
            updatedAtMicros: 1_000_000 + ((index * 7919) % conversationCount),
            config: JSON.stringify({ filler: "x".repeat(1000) }),
          }),
        );
      }),
    );
  }
}

async function measureEmptyOpen(): Promise<number> {
  const startedAt = performance.now();
  await using _ = await openJournal({ memory: true });
  return performance.now() - startedAt;
}

/** Pages through 2,000 rows twice, so that first and deep pages are measured warm. */
async function measureList(
  journal: Journal,
  name: string,
  filter: Pick<ConversationQuery, "ownerId" | "executionStatus">,
): Promise<BenchResult> {
  const first: number[] = [];
  const deep: number[] = [];
  for (const sort of sorts) {
    for (const round of ["warm up", "measured", "measured"]) {
      let pageId: string | null = null;
      for (let page = 0; page < 40; page += 1) {
        const query: ConversationQuery = { ...filter, sort, limit: pageSize };
        const startedAt = performance.now();
        const found = await journal.searchConversations(pageId === null ? query : { ...query, pageId });
        if (round === "measured") (page < 4 ? first : deep).push(performance.now() - startedAt);
        pageId = found.nextPageId;
        if (pageId === null) break;
      }
    }
  }
  return {
    id: `B14.${name}`,
    name: `list of ${pageSize} among ${conversationCount} conversations, p99 of all pages: ${name}`,
    value: percentile([...first, ...deep], 0.99),
    unit: "ms",
    baseline: {
      name: "median of first pages; ratio of the medians, deep to first",
      value: percentile(first, 0.5),
    },
    ratio: percentile(deep, 0.5) / percentile(first, 0.5),
  };
}

if (import.meta.main) console.table(await run());
