import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { openMemoryConversation } from "../../testing/memory-conversation.ts";
import { createWindowedModel } from "../../testing/windowed-model.ts";

async function finishes(critic: object): Promise<readonly Event[]> {
  const model = createWindowedModel({ windowTokens: 100_000, turns: 1 });
  await using opened = await openMemoryConversation({ model, agent: { critic } as never });
  expect(await opened.run("Do it.")).toBe("finished");
  return opened.log.events.map(({ json }) => JSON.parse(json) as Event);
}

const scores = (events: readonly Event[]) =>
  events.flatMap((event) =>
    "critic_result" in event && event.critic_result ? [event.critic_result.score] : [],
  );

test("L23.31: a critic that is not satisfied sends the agent back, so often as it may and no more", async () => {
  const events = await finishes({ kind: "EmptyPatchCritic", iterative_refinement: { max_iterations: 2 } });
  expect(scores(events)).toEqual([0, 0, 0]);
  const asked = events.filter((event) => event.kind === "MessageEvent" && event.source === "environment");
  expect(asked).toHaveLength(2);
});

test("a satisfied critic, and one without refinement, leave the run alone", async () => {
  expect(scores(await finishes({ kind: "PassCritic", iterative_refinement: {} }))).toEqual([1]);
  expect(scores(await finishes({ kind: "AgentFinishedCritic" }))).toEqual([0]);
  expect(scores(await finishes({ kind: "PassCritic", mode: "all_actions" }))).toEqual([1, 1]);
});
