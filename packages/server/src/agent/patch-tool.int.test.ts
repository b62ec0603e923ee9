import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defaultTools } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { startTestServer } from "../testing/start-server.ts";

const patch = (path: string): string =>
  `*** Begin Patch\n*** Update File: ${path}\n-one\n+1\n*** Add File: new.txt\n+new\n*** End Patch`;

test("client 3: an agent that has apply_patch changes several files with one call, under either name of its argument", async () => {
  await using server = await startTestServer({
    tools: defaultTools(),
    script: {
      turns: [
        { tool_calls: [{ name: "apply_patch", arguments: { input: patch("missing.txt") } }] },
        { tool_calls: [{ name: "apply_patch", arguments: { patch: patch("a.txt") } }] },
        { text: "Done." },
      ],
    },
  });
  await writeFile(join(server.workspaceDir, "a.txt"), "one\n");
  const { agent } = server.startRequest();
  const tools = [{ name: "apply_patch", params: {} }];
  const id = await server.runTo("finished", "go", { agent: { ...agent, tools } });
  expect(await readFile(join(server.workspaceDir, "a.txt"), "utf8")).toBe("1\n");
  expect(await readFile(join(server.workspaceDir, "new.txt"), "utf8")).toBe("new\n");
  const events = (await server.events(id)) as unknown as Record<string, unknown>[];
  expect(events.filter(({ kind }) => kind === "ObservationEvent")).toMatchObject([
    {
      tool_name: "apply_patch",
      observation: { kind: "ApplyPatchObservation", is_error: true, commit: null },
    },
    {
      tool_name: "apply_patch",
      observation: {
        kind: "ApplyPatchObservation",
        is_error: false,
        commit: { changes: { "a.txt": { type: "update" }, "new.txt": { type: "add" } } },
      },
    },
  ]);
  const offered = (server.model.requests[0]!.body["tools"] as { function: { name: string } }[]).map(
    (tool) => tool.function.name,
  );
  expect(offered).toEqual(["apply_patch", "finish", "think"]);
  const prompt = events.find(({ kind }) => kind === "SystemPromptEvent") as { tools: { kind: string }[] };
  expect(prompt.tools[0]).toMatchObject({ kind: "ApplyPatchTool", action_type: "ApplyPatchAction" });
});
