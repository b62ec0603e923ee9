import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { openClock } from "./example-clock.ts";
import { startTestServer } from "./start-server.ts";

test("the source of the guide is offered to an agent that names its tool, and carries its calls out", async () => {
  await using server = await startTestServer({
    script: { turns: [{ tool_calls: [{ name: "clock", arguments: {} }] }, { text: "Done." }] },
    toolSources: [openClock],
  });
  const { agent } = server.startRequest();
  const tools = [{ name: "terminal" }, { name: "clock" }];
  const id = await server.runTo("finished", "What time is it?", { agent: { ...agent, tools } });
  const events = (await server.events(id)) as unknown as Record<string, unknown>[];
  expect(events.filter(({ key }) => key === "warning")).toEqual([]);
  expect(events.find(({ kind }) => kind === "ActionEvent")).toMatchObject({
    tool_name: "clock",
    security_risk: "LOW",
    action: { kind: "MCPToolAction", data: {} },
  });
  expect(events.find(({ kind }) => kind === "ObservationEvent")).toMatchObject({
    tool_name: "clock",
    observation: { content: [{ text: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string }] },
  });
  await server.runTo("finished", "And now?");
  const offered = server.model.requests.at(-1)!.body["tools"] as { function: { name: string } }[];
  expect(offered.map((tool) => tool.function.name)).not.toContain("clock");
});

test("the guide shows the source as it is", async () => {
  const [guide, source] = await Promise.all(
    ["../../../../docs/guides/add-a-tool-source.md", "./example-clock.ts"].map((path) =>
      readFile(new URL(path, import.meta.url), "utf8"),
    ),
  );
  // Imports depend on the folder.
  const shown = source!.slice(source!.indexOf("const name"));
  expect(guide).toContain(`${shown}\`\`\``);
});
