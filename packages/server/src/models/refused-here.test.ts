import { createValidator } from "@convoke/protocol/validate";
import { LLM } from "@convoke/protocol";
import { expect, test } from "vitest";
import type { ModelClock } from "./clock.ts";
import type { ModelPart } from "./model.ts";
import { openModel } from "./open-model.ts";

const refuse = async (): Promise<Response> => {
  const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  throw new TypeError("fetch failed", { cause });
};

/** The parts of a call whose connection is refused, and the waits between the attempts. */
async function call(llm: object): Promise<{ readonly parts: ModelPart[]; readonly waitsMs: number[] }> {
  const waitsMs: number[] = [];
  const clock: ModelClock = {
    nowMs: () => 1_000_000,
    // The watch over a silent provider asks too; those attempts end before it has anything to say.
    sleep: (ms, signal) => {
      if (ms < 100_000) waitsMs.push(ms);
      else return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      return Promise.resolve();
    },
    random: () => 0,
  };
  // As settings and requests bring it: every default is filled in.
  const checked = createValidator().check(LLM, { model: "openai/m", api_key: "k", ...llm });
  if (!checked.ok) throw new Error(JSON.stringify(checked.errors));
  const model = openModel(checked.value, { send: refuse, clock });
  const parts: ModelPart[] = [];
  const request = { messages: [], tools: [], cacheKey: "c" };
  for await (const part of model.stream(request, new AbortController().signal)) parts.push(part);
  return { parts, waitsMs };
}

test.each([
  ["http://127.0.0.1:21681/v1", "127.0.0.1:21681"],
  ["http://localhost/v1", "localhost"],
  ["http://[::1]:8080/v1", "[::1]:8080"],
])("where nothing listens at %s the port is named, and it is given up after seconds", async (url, place) => {
  const { parts, waitsMs } = await call({ base_url: url });
  const detail = `Nothing listens at ${place}. Start the server of the model there, or change llm.base_url.`;
  expect(parts[0]).toMatchObject({ type: "retry", error: { detail } });
  expect(parts.at(-1)).toMatchObject({ type: "failed", error: { code: "LLMServiceUnavailableError" } });
  expect(waitsMs).toEqual([1000, 1000, 1000, 1000]);
});

test("waits that somebody set hold there too", async () => {
  const { waitsMs } = await call({ base_url: "http://127.0.0.1:21681/v1", retry_max_wait: 16 });
  expect(waitsMs).toEqual([8000, 16_000, 16_000, 16_000]);
});
