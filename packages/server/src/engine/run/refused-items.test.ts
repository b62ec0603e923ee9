import { expect, test } from "vitest";
import { replayLog } from "../../agent/replay/replay-log.ts";
import type { ModelRequest } from "../../models/model.ts";
import { openMemoryConversation, storedEvents } from "../../testing/memory-conversation.ts";
import { createWindowedModel } from "../../testing/windowed-model.ts";

const task = "Count to five hundred, one step at a time.";
const image = { type: "image" as const, image_urls: ["data:image/png;base64,AAAA"], cache_prompt: false };

test("P12: an image that the provider refuses is replaced for the model, and the conversation continues", async () => {
  const model = createWindowedModel({ windowTokens: 100_000, turns: 1 });
  let refusals = 0;
  await using opened = await openMemoryConversation({
    model: {
      ...model,
      async *stream(request: ModelRequest, signal) {
        if (!JSON.stringify(request.messages).includes("image_urls")) {
          yield* model.stream(request, signal);
          return;
        }
        refusals += 1;
        const detail = "The provider rejects an earlier item of this conversation: image exceeds 5 MB.";
        yield {
          type: "failed",
          error: { code: "LLMMalformedConversationHistoryError", detail, isRetryable: false },
        };
      },
    },
  });
  const content = [{ type: "text" as const, text: "Look.", cache_prompt: false }, image];
  await opened.conversation.send({
    message: { role: "user", content, thinking_blocks: [] },
    wantsRun: true,
  });
  while (opened.conversation.isBusy) await new Promise((resolve) => setImmediate(resolve));
  expect(opened.conversation.state.status).toBe("finished");
  expect(refusals).toBe(1);
  const message = storedEvents(opened).find(({ event }) => event.kind === "MessageEvent")!;
  expect(message.event).toMatchObject({ llm_message: { content } });
  expect(await opened.run("And again.")).toBe("finished");
  expect(refusals).toBe(1);
  expect(replayLog(storedEvents(opened)).difference).toBeNull();
});

test("P12: each repair tries something else, and never our own words about the one before", async () => {
  const model = createWindowedModel({ windowTokens: 100_000, turns: 3 });
  let isRefusing = false;
  let refusals = 0;
  await using opened = await openMemoryConversation({
    model: {
      ...model,
      async *stream(request: ModelRequest, signal) {
        if (!isRefusing || !JSON.stringify(request.messages).includes("image_urls")) {
          yield* model.stream(request, signal);
          return;
        }
        refusals += 1;
        yield {
          type: "failed",
          error: { code: "LLMMalformedConversationHistoryError", detail: "No.", isRetryable: false },
        };
      },
    },
  });
  const content = [{ type: "text" as const, text: task, cache_prompt: false }, image];
  await opened.conversation.send({
    message: { role: "user", content, thinking_blocks: [] },
    wantsRun: true,
  });
  while (opened.conversation.isBusy) await new Promise((resolve) => setImmediate(resolve));
  // From here on it is another provider, which takes no images and does not say so.
  isRefusing = true;
  expect(await opened.run("More.")).toBe("finished");
  expect(refusals).toBe(2);
  const repaired = storedEvents(opened).flatMap(({ meta }) => meta.repaired ?? []);
  expect(new Set(repaired).size).toBe(repaired.length);
  const notices = storedEvents(opened).filter(({ meta }) => meta.repaired !== undefined);
  expect(repaired).not.toContain(notices[0]!.event.id);
});

test("P12: a provider that refuses every form of an item ends the run after three repairs", async () => {
  let asked = 0;
  const model = createWindowedModel({ windowTokens: 100_000, turns: 1 });
  await using opened = await openMemoryConversation({
    model: {
      ...model,
      async *stream() {
        asked += 1;
        yield {
          type: "failed",
          error: { code: "LLMMalformedConversationHistoryError", detail: "No.", isRetryable: false },
        };
      },
    },
  });
  expect(await opened.run(task)).toBe("error");
  expect(asked).toBeLessThanOrEqual(4);
  expect(storedEvents(opened).at(-1)!.event).toMatchObject({ code: "LLMMalformedConversationHistoryError" });
});
