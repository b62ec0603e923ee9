import { expect, test } from "vitest";
import type { Script } from "../../../testing/scripted-model/script.ts";
import { startTestServer } from "../../../testing/start-server.ts";

const runCount = 20;
/** The promise is about milliseconds and measured by `npm run bench -- many-runs`; here nobody may be made to wait. */
const maxMs = 10_000;

const script: Script = {
  turns: [
    { tool_calls: [{ name: "terminal", arguments: { command: "look" } }], delay_ms: 300 },
    { text: "Done.", delay_ms: 300 },
  ],
  loop: true,
};

test("P47: conversations that run at once all end with what they did, and nobody else waits for them", async () => {
  await using server = await startTestServer({ script });
  const { id: idle } = await server.createConversation();
  const running = Promise.all(Array.from({ length: runCount }, () => server.runTo("finished", "Go.")));
  const times: number[] = [];
  const over = new AbortController();
  const watching = (async () => {
    while (!over.signal.aborted) {
      const startedMs = performance.now();
      await server.client.searchEvents(idle);
      times.push(performance.now() - startedMs);
    }
  })();
  const ids = await running;
  over.abort();
  await watching;
  expect(new Set(ids).size).toBe(runCount);
  // Half of them: a stall of the machine meets one or two.
  expect(times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]).toBeLessThan(maxMs);
  expect(times.length).toBeGreaterThan(3);
  for (const id of ids) {
    const kinds = (await server.events(id)).map(({ kind }) => kind);
    // Which of the two answers a conversation gets is left to the order of its calls; none is lost.
    expect(kinds.filter((kind) => kind === "ActionEvent").length).toBe(
      kinds.filter((kind) => kind === "ObservationEvent").length,
    );
    expect(kinds).toContain("MessageEvent");
  }
});
