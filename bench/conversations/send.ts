import { sampleConversation, sampleEvent } from "../../packages/server/src/journal/sample-events.ts";
import type { BenchResult } from "../bench-result.ts";
import { benchId, openBenchNode, type BenchNode } from "../node/open-bench-node.ts";

/** B3: stored events per second when many clients send messages that start no run. */
export async function run(): Promise<BenchResult[]> {
  await using node = await openBenchNode();
  const { stored, seconds } = await sendMessages(node);
  const bare = await appendAlone(node);
  const perSecond = stored / seconds;
  return [
    {
      id: "B3.conversations",
      name: `events stored by sending 1 KB messages to ${conversationCount} conversations (2 events a message)`,
      value: Math.round(perSecond),
      unit: "events/s",
      baseline: { name: "such events appended to the journal alone", value: Math.round(bare) },
      ratio: perSecond / bare,
    },
    {
      id: "B3.messages",
      name: "messages acknowledged as durable, the same run",
      value: Math.round((conversationCount * messageCount) / seconds),
      unit: "messages/s",
    },
  ];
}

/** Creates conversations and sends to all of them concurrently, one message after the other in each. */
export async function sendMessages(
  node: BenchNode,
): Promise<{ readonly stored: number; readonly seconds: number }> {
  const conversations = await Promise.all(
    Array.from({ length: conversationCount }, async (_, number) => {
      await node.create(benchId(number));
      return await node.open(benchId(number));
    }),
  );
  const send = (count: number): Promise<unknown> =>
    Promise.all(
      conversations.map(async (conversation) => {
        for (let index = 0; index < count; index += 1) {
          await conversation.send({ message: sampleMessage(index), wantsRun: false });
        }
      }),
    );
  await send(warmUpCount);
  const storedBefore = await countEvents(node);
  const startedAt = performance.now();
  await send(messageCount);
  const seconds = (performance.now() - startedAt) / 1000;
  return { stored: (await countEvents(node)) - storedBefore, seconds };
}

const conversationCount = 200;
const warmUpCount = 5;
const messageCount = 150;

async function countEvents({ journal }: BenchNode): Promise<number> {
  const sizes = await Promise.all(
    Array.from({ length: conversationCount }, (_, number) => journal.lastSeq(benchId(number))),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Events per second without conversations: as many writers and batches of a message and a short update. */
async function appendAlone({ journal }: BenchNode): Promise<number> {
  const leases = await Promise.all(
    Array.from({ length: conversationCount }, async (_, number) => {
      const id = benchId(conversationCount + number);
      await journal.createConversation(sampleConversation(id));
      return await journal.claim(id);
    }),
  );
  const startedAt = performance.now();
  await Promise.all(
    leases.map(async (lease) => {
      for (let index = 0; index < messageCount; index += 1) {
        const { text } = sampleMessage(index).content[0] ?? { text: "" };
        const seq = index * 2;
        const message = sampleEvent(seq + 1, { kind: "MessageEvent", source: "user", text, minLength: 1000 });
        const update = sampleEvent(seq + 2, { kind: "ConversationStateUpdateEvent", minLength: 250 });
        await journal.append(lease, { expectedSeq: seq, events: [message, update] });
      }
    }),
  );
  return (conversationCount * messageCount * 2) / ((performance.now() - startedAt) / 1000);
}

/** Makes an event of about 1 KB. */
function sampleMessage(index: number) {
  const text = `Message ${index}: ${"the quick brown fox jumps over the lazy dog. ".repeat(16)}`;
  return { role: "user" as const, content: [{ type: "text" as const, text }], thinking_blocks: [] };
}

if (import.meta.main) console.table(await run());
