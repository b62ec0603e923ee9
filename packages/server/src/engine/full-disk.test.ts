import { expect, test } from "vitest";
import { JournalWriteError } from "../journal/journal.ts";
import { openGatedConversation } from "../testing/gated-conversation.ts";
import { until } from "../testing/until.ts";

test.each(["pause", "interrupt", "stop"] as const)(
  "P7, P43: while a run cannot store its result, %s answers at once, holds the work, and is recorded later",
  async (command) => {
    await using world = await openGatedConversation();
    const { conversation, disk, end, started, requests, kinds } = world;
    await end("two");
    await until(() => started.length === 1);
    disk.isFull = true;
    await end("observed");
    // The run waits for the disk now; the mailbox must not.
    await expect(conversation.halts[command]()).rejects.toThrow(JournalWriteError);
    await until(() => !conversation.isBusy || command === "pause");
    disk.isFull = false;
    await until(() => conversation.state.status === "paused" && !conversation.isBusy);
    expect(started).toHaveLength(1);
    expect(requests).toHaveLength(1);
    expect(kinds().filter((kind) => kind === "ObservationEvent")).toHaveLength(command === "pause" ? 1 : 0);
  },
);

test("P7: a result waits for the disk and is stored; the run resumes by itself", async () => {
  await using world = await openGatedConversation();
  const { conversation, disk, end, kinds } = world;
  await end("one");
  await until(() => world.started.length === 1);
  disk.isFull = true;
  await end("observed");
  await expect(conversation.titling.set("new")).rejects.toThrow(JournalWriteError);
  disk.isFull = false;
  await end("text");
  await until(() => conversation.state.status === "finished");
  expect(kinds().filter((kind) => kind === "ObservationEvent")).toHaveLength(1);
});

test("F5: a run that meets a damaged file ends, and does not begin again and again", async () => {
  await using world = await openGatedConversation();
  const { conversation, disk, end, requests } = world;
  await end("one");
  await until(() => world.started.length === 1);
  disk.isDamaged = true;
  await end("observed");
  await until(() => !conversation.isBusy);
  // Whoever asks for anything is told.
  await expect(conversation.titling.set("new")).rejects.toMatchObject({ errcode: 11 });
  expect(conversation.isBusy).toBe(false);
  expect(requests).toHaveLength(1);
});
