import { expect, test } from "vitest";
import { runAttempt, type Attempt, type AttemptDeps, type AttemptPart } from "./attempt.ts";
import { systemModelClock } from "./clock.ts";

const deps: AttemptDeps = {
  clock: systemModelClock,
  idleTimeoutMs: 60_000,
  failure: { model: "m", host: "h", secrets: [], clock: { nowMs: () => 0 } },
};
const request = { messages: [], tools: [], cacheKey: "c" };
const done: AttemptPart = {
  type: "done",
  response: {
    id: "r",
    model: "m",
    message: {
      role: "assistant",
      content: [],
      toolCalls: [],
      reasoningContent: null,
      thinkingBlocks: [],
      reasoningItem: null,
    },
    usage: {
      promptTokens: 1,
      completionTokens: 1,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
      contextWindow: 1000,
      cost: null,
    },
    latencyMs: 0,
    isTruncated: false,
  },
};

test("breaks off no request whose answer has been read", async () => {
  const { attempt, signal } = answering(done);
  expect(await partsOf(attempt, new AbortController().signal)).toEqual([done]);
  expect(signal().aborted).toBe(false);
});

test("P35: a silent provider is given up in time, also where the clock is set back", async () => {
  const limitMs = 60_000;
  let nowMs = 10_000_000;
  let sleptMs = 0;
  const clock: AttemptDeps["clock"] = {
    random: () => 0,
    nowMs: () => nowMs,
    sleep: async (ms) => {
      await new Promise((resolve) => setImmediate(resolve));
      nowMs += sleptMs === 0 ? ms - 3_600_000 : ms;
      sleptMs += ms;
    },
  };
  const attempt: Attempt = async function* (_request, context) {
    const never = new Promise<never>((_, reject) => {
      context.signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
    });
    yield await context.wait(never);
  };
  const parts: AttemptPart[] = [];
  const signal = new AbortController().signal;
  for await (const part of runAttempt(attempt, request, signal, { ...deps, clock })) parts.push(part);
  expect(parts).toMatchObject([{ type: "failed", error: { code: "LLMTimeoutError" } }]);
  expect(sleptMs).toBeLessThanOrEqual(2 * limitMs);
});

test("breaks off the request that its reader leaves", async () => {
  const { attempt, signal } = answering({ type: "text", text: "Half" }, done);
  for await (const part of runAttempt(attempt, request, new AbortController().signal, deps)) {
    expect(part.type).toBe("text");
    break;
  }
  expect(signal().aborted).toBe(true);
});

test("breaks off the request when it is told to, and says so", async () => {
  const outer = new AbortController();
  const outerReason = new Error("told");
  let reason: unknown;
  const attempt: Attempt = async function* (_request, context) {
    yield { type: "text", text: "Half" };
    outer.abort(outerReason);
    reason = context.signal.reason;
    context.signal.throwIfAborted();
  };
  const parts = await partsOf(attempt, outer.signal);
  expect(parts.map(({ type }) => type)).toEqual(["text", "aborted"]);
  expect(reason).toBe(outerReason);
});

/** An attempt that says these parts, and the signal that it was given. */
function answering(...parts: readonly AttemptPart[]) {
  let given: AbortSignal | undefined;
  const attempt: Attempt = async function* (_request, context) {
    given = context.signal;
    yield* parts;
  };
  return { attempt, signal: () => given! };
}

async function partsOf(attempt: Attempt, signal: AbortSignal): Promise<AttemptPart[]> {
  const parts: AttemptPart[] = [];
  for await (const part of runAttempt(attempt, request, signal, deps)) parts.push(part);
  return parts;
}
