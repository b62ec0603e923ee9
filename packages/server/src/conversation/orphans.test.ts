import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { openJournal } from "../journal/open-journal.ts";
import { sampleConversation } from "../journal/sample-events.ts";
import { Orphans } from "./orphans.ts";

test("P27: a run whose server has left is gone on with once, one with a living server or a sandbox elsewhere is not", async () => {
  await using folder = await openTemporaryDirectory();
  const first = await openJournal({ dataDir: folder.path });
  await using second = await openJournal({ dataDir: folder.path });
  await first.createConversation(sampleConversation("run", { isActive: true }));
  await first.createConversation(sampleConversation("in a sandbox", { isActive: true }));
  await first.claim("run");
  await first.claim("in a sandbox");
  const taken: string[] = [];
  const orphans = new Orphans({
    journal: second,
    isOurs: () => false,
    canHost: async ({ id }) => id === "run",
    goOnWith: async (id) => void taken.push(id),
  });

  await orphans.takeUp();
  await orphans.takeUp();
  expect(taken).toEqual([]);

  await first[Symbol.asyncDispose]();
  await Promise.all([orphans.takeUp(), orphans.takeUp()]);
  await orphans.takeUp();
  expect(taken).toEqual(["run"]);
});

test("what nobody owns is taken up at the second look, because a fork is made in two steps", async () => {
  await using folder = await openTemporaryDirectory();
  await using journal = await openJournal({ dataDir: folder.path });
  await journal.createConversation(sampleConversation("begun", { isActive: true }));
  const taken: string[] = [];
  const orphans = new Orphans({
    journal,
    isOurs: (id) => id === "ours",
    canHost: async () => true,
    goOnWith: async (id) => void taken.push(id),
  });

  // One that comes at once because a server has ended counts for nothing.
  await orphans.takeUp({ isBetween: true });
  await orphans.takeUp();
  expect(taken).toEqual([]);
  await journal.createConversation(sampleConversation("ours", { isActive: true }));
  await orphans.takeUp();
  await orphans.takeUp();
  expect(taken).toEqual(["begun"]);
});
