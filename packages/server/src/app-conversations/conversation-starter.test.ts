import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Directory } from "../directory/directory.ts";
import type { Journal } from "../journal/journal.ts";
import { DatabaseUnavailableError } from "../lib/database-unavailable.ts";
import { silentLogger } from "../lib/logger.ts";
import { quotaReached } from "../settings/quota-reached.ts";
import { withMethods } from "../testing/with-methods.ts";
import { openSecretBox } from "../security/seal.ts";
import { MemorySandboxes } from "../testing/memory-sandboxes.ts";
import { openTestDatabase } from "../testing/test-database.ts";
import { openAppConversations } from "./open-app-conversations.ts";
import type { StartRequest } from "./start-order.ts";

const ada = { userId: "ada" };
const request = {
  conversationId: "c",
  order: { secrets: { llm: {}, sources: {} }, sandboxId: null, templateId: "first" },
  shown: {},
} as unknown as StartRequest;

/** One server on a store; its sandboxes never come to run. */
async function openStarts(checkQuota: Directory["checkQuota"] = async () => {}) {
  await using scope = new AsyncDisposableStack();
  const folder = scope.use(await mkdtempDisposable(join(tmpdir(), "convoke-starts-"))).path;
  const database = scope.use(await openTestDatabase(folder));
  let isCut = true;
  const cut = withMethods(database, {
    transaction: async (work) => {
      const result = await database.transaction(work);
      if (isCut) throw new DatabaseUnavailableError("The line broke behind the commit");
      return result;
    },
  });
  const opened: string[] = [];
  const sandboxes = withMethods(new MemorySandboxes(), {
    openHost: (id: string) => {
      opened.push(id);
      return new Promise(() => {});
    },
  } as Partial<MemorySandboxes>);
  const node = { id: "here", address: null, release: null, startedAtMs: null };
  const starts = scope.use(
    openAppConversations({
      database: cut,
      secretBox: await openSecretBox(join(folder, "master-key")),
      directory: { exists: async () => false, checkQuota } as unknown as Directory,
      journal: {} as Journal,
      holds: { requireFree: async () => {} },
      sandboxes,
      cluster: { nodeId: "here", nodes: async () => [node] },
      hasMachines: true,
      clock: { nowMs: () => 0 },
      logger: silentLogger,
    }),
  );
  const owned = scope.move();
  return {
    starts,
    opened,
    mend: () => {
      isCut = false;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("a start that stands though nobody answered whether it does is begun by the server that wrote it down", async () => {
  await using bench = await openStarts();
  const { starts, opened } = bench;
  await expect(starts.starter.begin(ada, request)).rejects.toThrow(DatabaseUnavailableError);
  bench.mend();
  await starts.resumeStarts();
  await expect.poll(() => opened.length, { timeout: 60_000 }).toBe(1);
  await starts.resumeStarts();
  const again = await starts.starter.begin(ada, request);
  expect(again).toMatchObject({ sandboxId: opened[0], attempts: 1, nodeId: "here" });
  expect(opened).toHaveLength(1);
});

test("a start beyond the quota of conversations is refused before a sandbox is started for it", async () => {
  await using bench = await openStarts(async () => {
    throw quotaReached({ name: "conversations", used: 5, max: 5 });
  });
  const { starts, opened, mend } = bench;
  mend();
  await expect(starts.starter.begin(ada, request)).rejects.toMatchObject({ code: "quota_reached" });
  await starts.resumeStarts();
  expect(opened).toEqual([]);
});
