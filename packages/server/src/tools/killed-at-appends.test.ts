import { expect, test } from "vitest";
import type { Message } from "@convoke/protocol";
import { sampleConversation } from "../journal/sample-events.ts";
import { Fault } from "../lib/fault.ts";
import type { Model, ModelMessage, ModelPart } from "../models/model.ts";
import { MemoryLog } from "../testing/interleaving/memory-journal.ts";
import {
  openMemoryConversation,
  storedEvents,
  type MemoryConversation,
} from "../testing/memory-conversation.ts";
import { openClientTools } from "./sources/client-tool-source.ts";
import type { ToolPlace } from "./tool-source.ts";
import { pendingCalls } from "../engine/state/pending-calls.ts";

const config = {
  client_tools: [{ name: "weather", description: "Reports the weather.", waits_for_result: true }],
};

function textOf(message: ModelMessage | undefined): string {
  return JSON.stringify(message ?? null);
}

/** Calls the client's tool for the first message, and answers everything else with words. */
function createModel(requests: string[]): Model {
  let count = 0;
  return {
    name: "memory",
    isVisionEnabled: false,
    async *stream({ messages }): AsyncGenerator<ModelPart> {
      count += 1;
      requests.push(JSON.stringify(messages));
      const last = textOf(messages.at(-1));
      const calls = last.includes("alpha") ? [`call-${count}-${messages.length}`] : [];
      const text = calls.length > 0 ? "" : `answer ${messages.length}`;
      const usage = {
        promptTokens: 1,
        completionTokens: 1,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
        contextWindow: 1000,
        cost: 0,
      };
      const message = {
        role: "assistant" as const,
        content: text === "" ? [] : [{ type: "text" as const, text, cache_prompt: false }],
        toolCalls: calls.map((id) => ({
          id,
          name: "weather",
          arguments: "{}",
          origin: "completion" as const,
        })),
        reasoningContent: null,
        thinkingBlocks: [],
        reasoningItem: null,
      };
      const id = `${count}-${messages.length}`;
      const response = { id, model: "memory", message, usage, latencyMs: 0, isTruncated: false };
      yield { type: "done", response };
    },
  };
}

function message(text: string): Message {
  return { role: "user", content: [{ type: "text", text, cache_prompt: false }], thinking_blocks: [] };
}

async function open(requests: string[], log: MemoryLog): Promise<MemoryConversation> {
  const tools = (await openClientTools({
    config: { ...config, agent: {} },
  } as unknown as ToolPlace))!.tools();
  return await openMemoryConversation({
    model: createModel(requests),
    log,
    config,
    openSession: async (session) => ({ ...session, tools: [...session.tools, ...tools] }),
  });
}

async function settled(done: () => boolean): Promise<void> {
  for (let turns = 0; !done(); turns += 1) {
    if (turns > 100_000) throw new Error("The conversation did not get there.");
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** What a client does that repeats everything until it is answered. */
async function drive({ conversation }: MemoryConversation): Promise<void> {
  const send = async (text: string, whileRunning: "queue" | "steer" | "replace") =>
    await conversation.send({ message: message(text), wantsRun: true, clientMessageId: text, whileRunning });
  await send("alpha", "steer");
  await settled(() => pendingCalls(conversation.state).length > 0 || !conversation.isBusy);
  await send("dropped", "queue");
  await send("bravo", "replace");
  for (const { toolCallId } of pendingCalls(conversation.state)) {
    const content = [{ type: "text" as const, text: "rain", cache_prompt: false }];
    await conversation.receive([{ call: toolCallId, content, isError: false }]).catch((error: unknown) => {
      if (!(error instanceof Fault)) throw error;
    });
  }
  await settled(() => !conversation.isBusy);
}

test("P2: killed after any write, a queued message is delivered once after the run, and a client tool is answered once", async () => {
  const row = sampleConversation("c");
  const whole = new MemoryLog(row);
  {
    await using played = await open([], whole);
    await drive(played);
  }
  expect(whole.batches.length).toBeGreaterThan(8);
  for (let count = 0; count <= whole.batches.length; count += 1) {
    const requests: string[] = [];
    await using resumed = await open(requests, whole.cut(row, count));
    await resumed.conversation.resume();
    await drive(resumed);
    const events = storedEvents(resumed);
    const messages = events.flatMap(({ event }) =>
      event.kind === "MessageEvent" && event.source === "user"
        ? [JSON.stringify(event.llm_message.content)]
        : [],
    );
    const counted = (word: string) => messages.filter((text) => text.includes(word)).length;
    const end = { status: resumed.conversation.state.status, held: resumed.conversation.state.held.length };
    expect({ count, ...end }).toEqual({ count, status: "finished", held: 0 });
    expect([counted("alpha"), counted("bravo")], `after ${count} writes`).toEqual([1, 1]);
    const answers = events.filter(({ event }) => event.kind === "ObservationEvent");
    const calls = events.filter(({ event }) => event.kind === "ActionEvent");
    expect([calls.length, answers.length], `after ${count} writes`).toEqual([1, 1]);
    expect(JSON.stringify(answers[0]!.event)).toContain("rain");
    // Nothing of the queue was read before its turn, and what was replaced never.
    expect(requests.filter((text) => text.includes("dropped"))).toEqual([]);
    const reader = requests.find((text) => text.includes("bravo"));
    if (reader !== undefined && requests.indexOf(reader) > 0) expect(reader).toContain("rain");
  }
});
