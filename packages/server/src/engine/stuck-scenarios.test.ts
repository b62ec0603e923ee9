import { expect, test } from "vitest";
import type { ScriptTurn } from "../testing/scripted-model/script.ts";
import { startTestServer } from "../testing/start-server.ts";

const shell = (command: string): ScriptTurn => ({
  tool_calls: [{ name: "terminal", arguments: { command } }],
});

/** What an agent may repeat for ever. What does not fit any model is no such loop: it ends by P11. */
const scenarios: Readonly<Record<string, readonly ScriptTurn[]>> = {
  "the same call with the same result": [shell("a")],
  "the same call with an error": [shell("crash x")],
  "a call that cannot be read": [{ tool_calls: [{ name: "terminal", arguments: "{" }] }],
  "two calls in turn": [shell("a"), shell("b")],
  "three calls in turn": [shell("a"), shell("b"), shell("c")],
  "answers that say nothing": [{ text: " " }],
};

test.for(Object.entries(scenarios))("L23.42: a run can end as stuck by %s", async ([, turns]) => {
  await using server = await startTestServer({ script: { turns, loop: true, select: "in_order" } });
  const id = await server.runTo("stuck", "Go.", { max_iterations: 60 });
  expect((await server.events(id)).some(({ kind }) => kind === "ConversationErrorEvent")).toBe(false);
});
