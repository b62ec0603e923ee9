import { expect, test } from "vitest";
import type { Model, ModelPart, ModelRequest } from "../../models/model.ts";
import { estimatedWhenAborted } from "./aborted-call.ts";

const model: Model = {
  name: "scripted",
  isVisionEnabled: false,
  async *stream(): AsyncGenerator<ModelPart> {
    yield { type: "aborted" };
  },
};
const request: ModelRequest = {
  messages: [{ role: "user", content: [{ type: "text", text: "Hello." }] }],
  tools: [],
  cacheKey: "c",
};

async function estimates(given: ModelRequest, signal: AbortSignal): Promise<number> {
  let count = 0;
  for await (const part of estimatedWhenAborted(model, { model: "openai/scripted" }).stream(given, signal))
    if (part.type === "aborted") count += part.spent?.length ?? 0;
  return count;
}

test("P48: a call that is broken off is estimated, unless the provider never got it", async () => {
  const going = new AbortController().signal;
  expect(await estimates(request, going)).toBe(1);
  expect(await estimates(request, AbortSignal.abort())).toBe(0);
  expect(await estimates({ ...request, leaving: AbortSignal.abort() }, going)).toBe(0);
});
