import { expect, test } from "vitest";
import { startTestServer } from "./start-server.ts";

test("a test server starts, runs a conversation to its end, and finds it again after a restart", async () => {
  await using server = await startTestServer({
    script: {
      turns: [{ tool_calls: [{ name: "terminal", arguments: { command: "echo hi" } }] }, { text: "Done." }],
    },
  });
  const id = await server.runTo("finished", "Say hi.");
  const before = await server.eventTexts(id);
  await server.restart();
  expect(await server.eventTexts(id)).toEqual(before);
  expect(server.quickTools.started).toEqual(["echo hi"]);
  expect(server.log.filter(({ level }) => level !== "info")).toEqual([]);
});
