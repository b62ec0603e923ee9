import { describe, expect, test } from "vitest";
import type { Attempt } from "./attempt.ts";
import type { ModelClock } from "./clock.ts";
import { ModelFailure } from "./classify.ts";
import type { ModelPart } from "./model.ts";
import type { RetryPolicy } from "./model-settings.ts";
import { createRetryingModel } from "./retry.ts";

/** Time that passes only by sleeping. */
class ManualClock implements ModelClock {
  now = 1_000_000;
  chance = 0;
  readonly slept: number[] = [];

  nowMs(): number {
    return this.now;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.slept.push(ms);
    this.now += ms;
  }

  random(): number {
    return this.chance;
  }
}

const policy: RetryPolicy = { attempts: 5, multiplierMs: 8000, minWaitMs: 8000, maxWaitMs: 64_000 };
const request = { messages: [], tools: [], cacheKey: "c" };

/** As `fetch` fails where nothing listens. */
// oxlint-disable-next-line require-yield -- an attempt that says nothing before it fails
const refused: Attempt = async function* () {
  const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  throw new TypeError("fetch failed", { cause: new AggregateError([cause]) });
};

function failing(retryAfterMs?: number, isRetryable = true): Attempt {
  // oxlint-disable-next-line require-yield -- an attempt that says nothing before it fails
  return async function* () {
    throw new ModelFailure({
      code: "LLMServiceUnavailableError",
      detail: "Down.",
      isRetryable,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  };
}

async function run(
  attempt: Attempt,
  clock: ManualClock,
  own: Partial<RetryPolicy> = {},
  leaving = new AbortController().signal,
  host = "h",
): Promise<ModelPart[]> {
  const failure = { model: "m", host, secrets: [], clock: { nowMs: () => clock.now } };
  const model = createRetryingModel(
    { name: "m", isVisionEnabled: false, attempt },
    { clock, policy: { ...policy, ...own }, idleTimeoutMs: null, failure },
  );
  const parts: ModelPart[] = [];
  for await (const part of model.stream({ ...request, leaving }, new AbortController().signal))
    parts.push(part);
  return parts;
}

describe("retry", () => {
  test("P35: waits grow from the minimum to the maximum, and attempts are counted in total", async () => {
    const clock = new ManualClock();
    const parts = await run(failing(), clock, { attempts: 6 });
    expect(clock.slept).toEqual([8000, 16_000, 32_000, 64_000, 64_000]);
    expect(parts.map((part) => part.type)).toEqual(["retry", "retry", "retry", "retry", "retry", "failed"]);
    expect(parts.at(-1)).toMatchObject({ error: { detail: "Down. (6 attempts were made.)" } });
  });

  test("P35: a retry says until when it waits", async () => {
    const clock = new ManualClock();
    const [first, second] = await run(failing(), clock, { attempts: 2 });
    expect(first).toMatchObject({
      type: "retry",
      attempt: 1,
      untilMs: 1_008_000,
      error: { detail: "Down." },
    });
    expect(second).toMatchObject({ type: "failed" });
  });

  test("P35: up to a quarter of jitter is added", async () => {
    const clock = new ManualClock();
    clock.chance = 0.999;
    await run(failing(), clock, { attempts: 2 });
    expect(clock.slept[0]).toBeGreaterThan(9990);
    expect(clock.slept[0]).toBeLessThanOrEqual(10_000);
  });

  test("P35: Retry-After replaces the back-off and is capped", async () => {
    const clock = new ManualClock();
    await run(failing(1500), clock, { attempts: 2 });
    await run(failing(86_400_000), clock, { attempts: 2 });
    expect(clock.slept).toEqual([1500, 300_000]);
  });

  test("P35: total time is bounded", async () => {
    const clock = new ManualClock();
    const parts = await run(failing(300_000), clock, { attempts: 1000 });
    expect(clock.slept).toHaveLength(6);
    expect(parts.at(-1)?.type).toBe("failed");
  });

  test("P43, F9: no try begins once the request is left, neither in a wait nor behind a try that fails then", async () => {
    const waiting = new AbortController();
    const clock = new ManualClock();
    clock.sleep = async (_ms, signal) => {
      waiting.abort();
      signal.throwIfAborted();
    };
    let tries = 0;
    const counted = (leaving: AbortController | null): Attempt =>
      async function* (...given) {
        tries += 1;
        leaving?.abort();
        yield* failing()(...given);
      };
    const waited = await run(counted(null), clock, {}, waiting.signal);
    expect(waited.map(({ type }) => type)).toEqual(["retry", "aborted"]);
    const trying = new AbortController();
    const tried = await run(counted(trying), new ManualClock(), {}, trying.signal);
    expect(tried.map(({ type }) => type)).toEqual(["aborted"]);
    expect(tries).toBe(2);
    const never = await run(counted(null), new ManualClock(), {}, AbortSignal.abort());
    expect(never.map(({ type }) => type)).toEqual(["aborted"]);
    expect(tries).toBe(2);
  });

  test("what cannot pass is not tried again", async () => {
    const clock = new ManualClock();
    const parts = await run(failing(undefined, false), clock);
    expect(parts.map((part) => part.type)).toEqual(["failed"]);
    expect(parts[0]).toMatchObject({ error: { detail: "Down." } });
  });
});

test.each(["127.0.0.1", "localhost", "[::1]"])(
  "where nothing listens at %s it is said at once and given up after seconds, unless waits were set",
  async (host) => {
    const quick = new ManualClock();
    const parts = await run(refused, quick, { isUsual: true }, undefined, host);
    const detail = `Nothing listens at ${host}. Start the server of the model there, or change llm.base_url.`;
    expect(parts[0]).toMatchObject({ type: "retry", error: { detail } });
    expect(parts.at(-1)).toMatchObject({
      type: "failed",
      error: { code: "LLMServiceUnavailableError", detail: `${detail} (5 attempts were made.)` },
    });
    expect(quick.slept).toEqual([1000, 1000, 1000, 1000]);
    const clock = new ManualClock();
    await run(refused, clock, {}, undefined, host);
    expect(clock.slept).toEqual([8000, 16_000, 32_000, 64_000]);
  },
);

test("elsewhere a refused connection may heal, and is waited for", async () => {
  const clock = new ManualClock();
  await run(refused, clock, { isUsual: true }, undefined, "models.example.org");
  expect(clock.slept).toEqual([8000, 16_000, 32_000, 64_000]);
});
