import { expect, test } from "vitest";
import { createFastModelClock } from "../../models/clock.ts";
import { collect, doneOf, textOf, toolResult, userMessage } from "../../models/contract-bench.ts";
import type { ModelPart } from "../../models/model.ts";
import { openModel } from "../../models/open-model.ts";
import { startStrictModel, type RefusedRequest } from "./start-strict-model.ts";
import type { StrictProvider } from "./strict-provider.ts";
import { strictProviders } from "./strict-providers.ts";
import { learned } from "./expectations.ts";

test.each(strictProviders)(
  "$name takes a plain conversation with a call over the real adapter",
  async (provider) => {
    const { parts, refusals } = await converse(provider);
    expect(parts.map(textOf)).toEqual(["I will have a look.", "It is there.", "Gladly."]);
    const refused = refusals.map(({ refusal }) => JSON.stringify(refusal));
    expect(refused).toEqual(learned.includes(provider.name) ? [...new Set(refused)] : []);
  },
);

/** Asks, lets a tool answer, and says thank you; ends with the first answer that fails. */
async function converse(
  provider: StrictProvider,
): Promise<{ parts: ModelPart[][]; refusals: readonly RefusedRequest[] }> {
  await using server = await startStrictModel(provider, {
    script: [
      {
        reasoning: "The path is what counts.",
        text: "I will have a look.",
        tool_calls: [{ name: "look", arguments: { path: "/a" } }],
      },
      { text: "It is there." },
      { text: "Gladly." },
    ],
  });
  const { refusals } = server;
  const model = openModel(server.llm, { clock: createFastModelClock(200) });
  const first = await collect(model);
  const { message } = doneOf(first);
  const [call] = message.toolCalls;
  const history = [userMessage("Go."), message, toolResult(call!.id, "look", "seen")];
  const second = await collect(model, history);
  if (second.at(-1)?.type !== "done") return { parts: [first, second], refusals };
  const third = await collect(model, [...history, doneOf(second).message, userMessage("Thank you.")]);
  return { parts: [first, second, third], refusals };
}
