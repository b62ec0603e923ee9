import { expect, test } from "vitest";
import { createFastModelClock } from "../../../models/clock.ts";
import { requestOf, userMessage } from "../../../models/contract-bench.ts";
import type { ModelPart, ModelRequest } from "../../../models/model.ts";
import { openModel } from "../../../models/open-model.ts";
import { startStrictModel } from "../start-strict-model.ts";
import type { StrictProvider } from "../strict-provider.ts";
import { strictProviders } from "../strict-providers.ts";
import { hostileHistories } from "./hostile-histories.ts";
import { hostileTools } from "./hostile-tools.ts";

const cases: readonly (readonly [name: string, request: ModelRequest])[] = [
  ...Object.entries(hostileHistories).map(([name, messages]) => [name, requestOf(messages)] as const),
  ...Object.entries(hostileTools).map(([name, tools]) => {
    return [name, { ...requestOf([userMessage("Go.")]), tools }] as const;
  }),
];

test.each(strictProviders)(
  "P12 $name continues whatever a conversation contains",
  { timeout: 120_000 },
  async (provider) => {
    const dead = await findDead(provider);
    expect(dead).toEqual([]);
  },
);

/** What a run ends at, and how. */
async function findDead(provider: StrictProvider): Promise<string[]> {
  await using server = await startStrictModel(provider, { script: { turns: [{ text: "ok" }], loop: true } });
  const dead: string[] = [];
  for (const [name, request] of cases) {
    const model = openModel(server.llm, { clock: createFastModelClock(200) });
    let last: ModelPart | undefined;
    for await (const part of model.stream(request, new AbortController().signal)) last = part;
    if (last?.type !== "done") dead.push(`${name}: ${JSON.stringify(last)}`);
  }
  return dead;
}
