import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { replayLog } from "../../agent/replay/replay-log.ts";
import type { ModelMessage, ModelRequest } from "../../models/model.ts";
import { condensedDrafts } from "./condense-now.ts";
import {
  openMemoryConversation,
  storedEvents,
  type MemoryConversation,
} from "../../testing/memory-conversation.ts";
import { createWindowedModel } from "../../testing/windowed-model.ts";

const task = "Count to five hundred, one step at a time.";
const image = { type: "image" as const, image_urls: ["data:image/png;base64,AAAA"], cache_prompt: false };

test("P11, P59, L23.9, L23.22: 500 turns through a window of 32k tokens", async () => {
  const requests: (readonly ModelMessage[])[] = [];
  // Time that this thread worked: what else the machine does comes and goes.
  const workedMicros: number[] = [];
  const model = createWindowedModel({
    windowTokens: 32_000,
    turns: 500,
    onRequest: ({ messages }) => {
      requests.push(messages);
      const { user, system } = process.threadCpuUsage();
      workedMicros.push(user + system);
    },
  });
  await using opened = await openMemoryConversation({
    model,
    agent: { llm: { model: "windowed", max_input_tokens: 30_000 } },
    output: (command) => `${command}: ${"the quick brown fox jumps over the lazy dog ".repeat(40)}`,
  });
  expect(await opened.run(task)).toBe("finished");
  expect(model.counts.answered).toBe(501);
  expect(model.counts.refused).toBe(0);

  const condensations = kinds(opened).filter((kind) => kind === "Condensation").length;
  expect(condensations).toBeGreaterThan(10);
  expect(model.counts.summaries).toBe(condensations);

  // The system prompt and the task are in every request, and a summary in every one after the first condensation.
  const texts = requests.map((messages) => messages.slice(0, 3).map(textOf));
  expect(new Set(texts.map(([system]) => system)).size).toBe(1);
  expect(texts.every(([, user]) => user === task)).toBe(true);
  const summaries = texts.map(([, , third]) => /Summary (\d+) of the work/u.exec(third ?? "")?.[1] ?? "");
  expect(new Set(summaries).size).toBe(condensations + 1);

  // Between two condensations every request begins with the whole one before it: the same objects, so the same bytes.
  let breaks = 0;
  for (const [index, messages] of requests.entries()) {
    const before = requests[index - 1] ?? [];
    if (!before.every((message, at) => messages[at] === message)) breaks += 1;
  }
  expect(breaks).toBe(condensations);

  expect(replayLog(storedEvents(opened))).toMatchObject({ verified: 501 + condensations, difference: null });
  // P57: a reader of the contract finds every summary and every id that was forgotten in the log.
  const log: Event[] = storedEvents(opened).map(({ event }) => event);
  const ids = new Set(log.map(({ id }) => id));
  const forgotten = log.flatMap((event) =>
    event.kind === "Condensation" ? (event.forgotten_event_ids ?? []) : [],
  );
  expect(forgotten.filter((id) => !ids.has(id))).toEqual([]);
  const summaryBehind = log.flatMap((event, index) =>
    event.kind === "Condensation" ? [{ summary: event.summary, next: log[index + 1] }] : [],
  );
  for (const { summary, next } of summaryBehind)
    expect(next).toMatchObject({ kind: "CondensationSummaryEvent", source: "environment", summary });
  const earlier = summaryBehind.slice(0, -1).map(({ next }) => next!.id!);
  expect(earlier.every((id) => forgotten.includes(id))).toBe(true);
  // A turn beside another one; the promise of 1.2 is measured by `npm run bench -- long-run`. Some kernels count no time for many turns
  // and then that of all of them, so turns are weighed by the hundred.
  const turnMicros = (from: number, to: number): number =>
    (workedMicros[to]! - workedMicros[from]!) / (to - from);
  expect(turnMicros(400, 500)).toBeLessThan(3 * turnMicros(10, 210));
});

test.each([0.6, 1, 1.8])(
  "P11: one condensation makes room for many answers, also when tokens of summaries are counted otherwise (x %d)",
  async (factor) => {
    const model = createWindowedModel({ windowTokens: 32_000, turns: 150 });
    // A summary takes as long as eight answers.
    const { counts } = model;
    let ready = Promise.withResolvers<void>();
    let readyAt = Infinity;
    await using opened = await openMemoryConversation({
      model: {
        ...model,
        async *stream(request: ModelRequest, signal) {
          if (request.tools.length === 0) {
            ready = Promise.withResolvers();
            readyAt = counts.answered + 8;
            signal.addEventListener("abort", () => ready.resolve(), { once: true });
            await ready.promise;
          } else if (counts.answered >= readyAt) ready.resolve();
          for await (const part of model.stream(request, signal)) {
            if (part.type !== "done" || request.tools.length > 0) yield part;
            else {
              const { usage } = part.response;
              const promptTokens = Math.ceil(usage.promptTokens * factor);
              yield { ...part, response: { ...part.response, usage: { ...usage, promptTokens } } };
            }
          }
        },
      },
      agent: { llm: { model: "windowed", max_input_tokens: 30_000 } },
      output: (command) => `${command}: ${"the quick brown fox jumps over the lazy dog ".repeat(40)}`,
    });
    expect(await opened.run(task)).toBe("finished");
    const listed = kinds(opened).filter((kind) => kind === "Condensation" || kind === "ActionEvent");
    const at = listed.flatMap((kind, index) => (kind === "Condensation" ? [index] : []));
    expect(at.length).toBeGreaterThan(3);
    const answersBetween = at.slice(1).map((index, nth) => index - at[nth]! - 1);
    expect(Math.min(...answersBetween)).toBeGreaterThan(10);
  },
);

test("a summary of a branch that somebody leaves meanwhile is not stored", async () => {
  const model = createWindowedModel({ windowTokens: 32_000, turns: 20 });
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  let isHeld = false;
  await using opened = await openMemoryConversation({
    model: {
      ...model,
      async *stream(request: ModelRequest, signal) {
        if (isHeld) {
          asked.resolve();
          await answer.promise;
        }
        yield* model.stream(request, signal);
      },
    },
  });
  expect(await opened.run(task)).toBe("finished");
  isHeld = true;
  const condensed = opened.conversation.condense();
  await asked.promise;
  await opened.conversation.navigate(null);
  answer.resolve();
  await condensed;
  expect(kinds(opened)).toContain("CondensationRequest");
  expect(kinds(opened)).not.toContain("Condensation");
});

test("P11: a model that refuses everything as too long is asked a bounded number of times", async () => {
  let asked = 0;
  const model = createWindowedModel({ windowTokens: 0, turns: 1 });
  await using opened = await openMemoryConversation({
    model: {
      ...model,
      stream: (request: ModelRequest, signal) => {
        asked += 1;
        return model.stream(request, signal);
      },
    },
  });
  expect(await opened.run(task)).toBe("error");
  // There is nothing that could be forgotten: three tries, and no summary of nothing.
  expect(asked).toBe(3);
  expect(last(opened)).toMatchObject({
    kind: "ConversationErrorEvent",
    code: "LLMContextWindowExceedError",
  });
});

test("P11: a window that shrinks to nothing costs at most 3 requests and 10 summaries", async () => {
  const wide = createWindowedModel({ windowTokens: 100_000, turns: 20 });
  const narrow = createWindowedModel({ windowTokens: 0, turns: 1 });
  let asked = 0;
  await using opened = await openMemoryConversation({
    model: {
      ...wide,
      stream: (request: ModelRequest, signal) => {
        if (wide.counts.answered < 15) return wide.stream(request, signal);
        asked += 1;
        return narrow.stream(request, signal);
      },
    },
  });
  expect(await opened.run(task)).toBe("error");
  expect(asked).toBeLessThanOrEqual(3 + 2 * 5);
  const condensations = kinds(opened).filter((kind) => kind === "Condensation");
  expect(condensations).toHaveLength(2);
  expect(kinds(opened).filter((kind) => kind === "CondensationRequest")).toHaveLength(2);
  // No model could write notes, so they are made of what is in the log; system prompt and task are still there.
  const notes = storedEvents(opened).findLast(({ event }) => event.kind === "Condensation")!.event;
  expect(notes).toMatchObject({ summary: expect.stringContaining("terminal") as string });
  expect(replayLog(storedEvents(opened)).difference).toBeNull();
});

test("P11: an overflow that the provider reports is answered with a condensation, and the run continues", async () => {
  const model = createWindowedModel({ windowTokens: 12_000, turns: 40 });
  await using opened = await openMemoryConversation({
    model,
    // The catalogue knows nothing of this model and believes in a large window.
    output: (command) => `${command} ${"word ".repeat(400)}`,
  });
  expect(await opened.run(task)).toBe("finished");
  expect(model.counts.answered).toBe(41);
  expect(model.counts.refused).toBeGreaterThan(0);
  expect(model.counts.refused).toBe(kinds(opened).filter((kind) => kind === "CondensationRequest").length);
  expect(replayLog(storedEvents(opened)).difference).toBeNull();
});

test("a NoOpCondenser keeps the whole history and ends the run when the window is full", async () => {
  const model = createWindowedModel({ windowTokens: 12_000, turns: 40 });
  await using opened = await openMemoryConversation({
    model,
    agent: { condenser: { kind: "NoOpCondenser" } },
    output: (command) => `${command} ${"word ".repeat(400)}`,
  });
  expect(await opened.run(task)).toBe("error");
  expect(kinds(opened)).not.toContain("Condensation");
  expect(kinds(opened)).not.toContain("CondensationRequest");
});

test("P11: of two summaries of the same events the second one is not stored, however close they come", async () => {
  const model = createWindowedModel({ windowTokens: 32_000, turns: 30 });
  await using opened = await openMemoryConversation({ model, agent: { llm: { model: "windowed" } } });
  await opened.run(task);
  await opened.conversation.condense();
  const log = storedEvents(opened);
  const at = log.findLastIndex(({ event }) => event.kind === "Condensation");
  const {
    id: _id,
    timestamp: _timestamp,
    ...body
  } = log[at]!.event as Extract<Event, { kind: "Condensation" }>;
  const draftsIn = async (view: typeof log) =>
    await condensedDrafts({ body }, { state: opened.conversation.state, view: async () => view });
  expect(await draftsIn(log.slice(0, at))).toMatchObject([{ body }, { body: { summary: body.summary } }]);
  expect(await draftsIn(log)).toEqual([]);
});

test("P12: a summary of an item that was repaired while it was written is written again, and can be replayed", async () => {
  const quick = createWindowedModel({ windowTokens: 100_000, turns: 0 });
  const busy = createWindowedModel({ windowTokens: 100_000, turns: 40 });
  const repaired = Promise.withResolvers<void>();
  let isBusy = false;
  let summaries = 0;
  let refusals = 0;
  await using opened = await openMemoryConversation({
    model: {
      ...busy,
      async *stream(request: ModelRequest, signal) {
        const isSummary = request.tools.length === 0;
        if (isSummary) {
          summaries += 1;
          await repaired.promise;
        } else if (summaries > 0 && JSON.stringify(request.messages).includes("image_urls")) {
          refusals += 1;
          const detail = "The provider rejects an earlier item: image exceeds 5 MB.";
          yield {
            type: "failed",
            error: { code: "LLMMalformedConversationHistoryError", detail, isRetryable: false },
          };
          return;
        } else if (refusals > 0) repaired.resolve();
        for await (const part of (isBusy ? busy : quick).stream(request, signal)) {
          const prefix = isBusy ? "busy" : "quick";
          yield part.type === "done"
            ? { ...part, response: { ...part.response, id: `${prefix}-${part.response.id}` } }
            : part;
        }
      },
    },
    agent: {
      condenser: { kind: "LLMSummarizingCondenser", llm: { model: "windowed" }, max_size: 20, keep_first: 2 },
    },
  });
  await opened.run(task);
  const content = [{ type: "text" as const, text: "Look.", cache_prompt: false }, image];
  await opened.conversation.send({
    message: { role: "user", content, thinking_blocks: [] },
    wantsRun: false,
  });
  isBusy = true;
  expect(await opened.run("Now count.")).toBe("finished");
  expect(refusals).toBe(1);
  expect(kinds(opened)).toContain("Condensation");
  expect(replayLog(storedEvents(opened)).difference).toBeNull();
});

test("P48: a summary is recorded under the condenser's own usage id", async () => {
  const model = createWindowedModel({ windowTokens: 100_000, turns: 30 });
  await using opened = await openMemoryConversation({
    model,
    agent: {
      condenser: { kind: "LLMSummarizingCondenser", llm: { model: "windowed" }, max_size: 20, keep_first: 2 },
    },
  });
  expect(await opened.run(task)).toBe("finished");
  expect(model.counts.summaries).toBeGreaterThan(2);
  expect(Object.keys(opened.conversation.state.stats).toSorted()).toEqual(["condenser", "default"]);
});

test("P11, L23.29: an agent that repeats itself behind each condensation is stopped", async () => {
  const model = createWindowedModel({ windowTokens: 100_000, turns: 80 });
  await using opened = await openMemoryConversation({
    model: {
      ...model,
      async *stream(request: ModelRequest, signal) {
        for await (const part of model.stream(request, signal)) {
          if (part.type !== "done" || request.tools.length === 0) yield part;
          else {
            const { message } = part.response;
            const command = `look ${model.counts.answered % 2}`;
            const toolCalls = message.toolCalls.map((call) => ({
              ...call,
              arguments: JSON.stringify({ command }),
            }));
            yield { ...part, response: { ...part.response, message: { ...message, toolCalls } } };
          }
        }
      },
    },
    agent: {
      condenser: { kind: "LLMSummarizingCondenser", llm: { model: "windowed" }, max_size: 8, keep_first: 2 },
    },
  });
  expect(await opened.run(task)).toBe("stuck");
  expect(model.counts.summaries).toBeGreaterThan(1);
  expect(model.counts.answered).toBeLessThan(12);
  expect(replayLog(storedEvents(opened)).difference).toBeNull();
});

function kinds(opened: MemoryConversation): string[] {
  return storedEvents(opened).map(({ event }) => event.kind);
}

function last(opened: MemoryConversation): Event {
  return storedEvents(opened).at(-1)!.event;
}

function textOf(message: ModelMessage): string {
  return message.content.map((part) => ("text" in part ? part.text : "")).join("");
}
