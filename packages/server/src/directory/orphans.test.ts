import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { openJournal } from "../journal/open-journal.ts";
import { sampleConversation } from "../journal/sample-events.ts";
import { Orphans, type OrphansDeps, type RunAdopter } from "./orphans.ts";

/** Nobody opens anything beside it, and no file is elsewhere. */
const atStart = {
  hold: () => ({ [Symbol.dispose]: () => {} }),
  hasFiles: async () => true,
  onFailure: (error: unknown) => expect.unreachable(String(error)),
};

type Given = Pick<OrphansDeps, "journal"> &
  Pick<RunAdopter, "canHost" | "resumeRun" | "isOurs"> &
  Partial<RunAdopter>;

function openOrphans({ journal, ...given }: Given): Orphans {
  return new Orphans({ journal, adopter: { ...atStart, ...given } });
}

test("P27: a run whose server has left is resumed once, one with a living server or a sandbox elsewhere is not", async () => {
  await using folder = await openTemporaryDirectory();
  const first = await openJournal({ dataDir: folder.path });
  await using second = await openJournal({ dataDir: folder.path });
  await first.createConversation(sampleConversation("run", { isActive: true }));
  await first.createConversation(sampleConversation("in a sandbox", { isActive: true }));
  await first.claim("run");
  await first.claim("in a sandbox");
  const taken: string[] = [];
  const orphans = openOrphans({
    journal: second,
    isOurs: (id) => taken.includes(id),
    canHost: async ({ id }) => id === "run",
    resumeRun: async (id) => void taken.push(id),
  });

  await orphans.poll();
  await orphans.poll();
  expect(taken).toEqual([]);

  await first[Symbol.asyncDispose]();
  await Promise.all([orphans.poll(), orphans.poll()]);
  await orphans.poll();
  expect(taken).toEqual(["run"]);
});

test("what nobody owns is adopted at the second poll, because a fork is made in two steps", async () => {
  await using folder = await openTemporaryDirectory();
  await using journal = await openJournal({ dataDir: folder.path });
  await journal.createConversation(sampleConversation("begun", { isActive: true }));
  const taken: string[] = [];
  const orphans = openOrphans({
    journal,
    isOurs: (id) => id === "ours" || taken.includes(id),
    canHost: async () => true,
    resumeRun: async (id) => void taken.push(id),
  });

  // One that comes at once because a server has ended counts for nothing.
  await orphans.poll({ isExtra: true });
  await orphans.poll();
  expect(taken).toEqual([]);
  await journal.createConversation(sampleConversation("ours", { isActive: true }));
  await orphans.poll();
  await orphans.poll();
  expect(taken).toEqual(["begun"]);
});

test("P2: a run that this server owns and has lost from its memory is resumed at the second poll", async () => {
  await using folder = await openTemporaryDirectory();
  await using journal = await openJournal({ dataDir: folder.path });
  for (const id of ["worked on", "lost"])
    await journal.createClaimed(sampleConversation(id, { isActive: true }));
  await journal.createClaimed(sampleConversation("at rest"));
  const taken: string[] = [];
  const orphans = openOrphans({
    journal,
    isOurs: (id) => id === "worked on" || taken.includes(id),
    canHost: async () => true,
    resumeRun: async (id, claimed) => {
      expect(claimed).toMatchObject({ row: { id }, lease: { conversationId: id, generation: 2 } });
      taken.push(id);
    },
  });

  await orphans.poll();
  await orphans.poll({ isExtra: true });
  expect(taken).toEqual([]);
  await orphans.poll();
  await orphans.poll();
  expect(taken).toEqual(["lost"]);
});

test("issue 12.1: what an ended server has left is claimed and read in batches, and of a living one a single claim is asked for", async () => {
  await using folder = await openTemporaryDirectory();
  const ended = await openJournal({ dataDir: folder.path });
  await using living = await openJournal({ dataDir: folder.path });
  await using journal = await openJournal({ dataDir: folder.path });
  const left = Array.from({ length: 40 }, (_, index) => `left ${index}`);
  for (const id of left) await ended.createClaimed(sampleConversation(id, { isActive: true }));
  for (const id of ["worked on", "worked on too"])
    await living.createClaimed(sampleConversation(id, { isActive: true }));
  await ended[Symbol.asyncDispose]();
  const claims: string[][] = [];
  let readings = 0;
  const taken: string[] = [];
  const orphans = openOrphans({
    journal: {
      listActiveElsewhere: () => journal.listActiveElsewhere(),
      listActiveHere: () => journal.listActiveHere(),
      claimMany: (ids) => {
        claims.push([...ids]);
        return journal.claimMany(ids);
      },
      getConversations: (ids) => {
        readings += 1;
        return journal.getConversations(ids);
      },
    },
    isOurs: (id) => id === "left 3",
    canHost: async ({ id }) => id !== "left 4",
    resumeRun: async (id, claimed) => {
      expect(claimed).toMatchObject({ row: { id }, lease: { conversationId: id, generation: 2 } });
      taken.push(id);
    },
  });

  await orphans.poll();

  const expected = left.filter((id) => id !== "left 3" && id !== "left 4");
  expect(taken.toSorted()).toEqual(expected.toSorted());
  expect(claims.flat().filter((id) => id.startsWith("worked"))).toHaveLength(1);
  expect(claims.length).toBeLessThanOrEqual(3);
  expect(readings).toBeLessThanOrEqual(6);
});

test("P2: a start adopts runs without an owner or with an ended one, except excluded ones; those of another machine one by one", async () => {
  await using folder = await openTemporaryDirectory();
  const ended = await openJournal({ dataDir: folder.path });
  await using living = await openJournal({ dataDir: folder.path });
  await using journal = await openJournal({ dataDir: folder.path });
  for (const id of ["ended", "ended too", "to be left", "elsewhere"])
    await ended.createClaimed(sampleConversation(id, { isActive: true }));
  await ended.createConversation(sampleConversation("nobody's", { isActive: true }));
  await living.createClaimed(sampleConversation("worked on", { isActive: true }));
  await ended[Symbol.asyncDispose]();
  const taken: [string, number | null][] = [];
  const orphans = openOrphans({
    journal,
    isOurs: () => false,
    canHost: async () => false,
    resumeRun: async (id, claimed) => void taken.push([id, claimed?.lease.generation ?? null]),
    hasFiles: async ({ id }) => id !== "elsewhere",
  });

  expect(await orphans.adoptAll((id) => id === "to be left")).toEqual(["to be left"]);

  expect(new Map(taken)).toEqual(
    new Map([
      ["elsewhere", null],
      ["ended", 2],
      ["ended too", 2],
      ["nobody's", 1],
    ]),
  );
  expect(taken).toHaveLength(4);
});
