import { openJournal } from "../open-journal.ts";
import { sampleConversation, sampleEvent } from "../sample-events.ts";

/**
 * A process for crash tests: appends to its own conversation for ever, and writes a line `acknowledged <seq>` after each
 * batch. Arguments: data folder, conversation id, bytes an event.
 */
const [dataDir = "", conversationId = "", bytes = "200"] = process.argv.slice(2);
const journal = await openJournal({ dataDir });
await journal.createConversation(sampleConversation(conversationId));
const lease = await journal.claim(conversationId);
process.stdout.write("ready\n");
for (let seq = await journal.lastSeq(conversationId); ;) {
  const events = [1, 2, 3].map((step) =>
    sampleEvent(seq + step, {
      kind: "MessageEvent",
      source: "user",
      text: `message ${seq + step}`,
      minLength: Number(bytes),
    }),
  );
  try {
    await journal.append(lease, { expectedSeq: seq, events });
    seq += events.length;
    process.stdout.write(`acknowledged ${seq}\n`);
  } catch (error) {
    process.stdout.write(`failed ${error instanceof Error ? `${error.name}: ${error.message}` : "?"}\n`);
    break;
  }
}
// After a failure: something small must still be storable, once there is room again.
await journal.append(lease, {
  expectedSeq: await journal.lastSeq(conversationId),
  events: [],
  conversation: { title: "after" },
});
process.stdout.write("wrote after the failure\n");
await journal[Symbol.asyncDispose]();
