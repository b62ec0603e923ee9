import { expect, test } from "vitest";
import { replayConversation } from "./replay.ts";
import { startTestServer } from "../testing/start-server.ts";

const script = {
  turns: [{ tool_calls: [{ name: "terminal", arguments: { command: "one" } }] }, { text: "All done." }],
};

test("a replay of the data folder verifies every request, and knows no foreign conversation", async () => {
  await using server = await startTestServer({ script });
  const id = await server.runTo("finished", "Do one thing.");
  expect(await replayConversation(server.dataDir, id)).toEqual({
    verified: 2,
    unrecorded: 0,
    difference: null,
  });
  expect(await replayConversation(server.dataDir, "99999999-9999-4999-8999-999999999999")).toBeNull();
});
