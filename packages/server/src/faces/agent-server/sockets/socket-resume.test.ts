import { expect, test } from "vitest";
import { startLog } from "../../../journal/contract.ts";
import { openJournal } from "../../../journal/open-journal.ts";
import { sampleEvent, sampleMicros } from "../../../journal/sample-events.ts";
import { resumeSeq } from "./socket-resume.ts";

test("P1: with since, an event after the search is sent as new, even when the search found nothing", async () => {
  await using journal = await openJournal({ memory: true });
  const lease = await startLog(journal);
  const { conversationId } = lease;
  await journal.append(lease, { expectedSeq: 0, events: [sampleEvent(1)] });
  const racing: Parameters<typeof resumeSeq>[0] = {
    getEvents: (id, ids) => journal.getEvents(id, ids),
    lastSeq: (id) => journal.lastSeq(id),
    search: async (id, query) => {
      const page = await journal.search(id, query);
      await journal.append(lease, { expectedSeq: 1, events: [sampleEvent(2)] });
      return page;
    },
  };
  const resume = { type: "since", micros: sampleMicros(2) } as const;
  expect(await resumeSeq(racing, conversationId, resume)).toBe(1);
});
