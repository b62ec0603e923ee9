import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { readIfThere } from "../../lib/read-if-there.ts";
import { checkLeaksAfterEach } from "../../testing/check-leaks.ts";
import type { ScriptTurn } from "../../testing/scripted-model/script.ts";
import { startScriptedModel } from "../../testing/scripted-model/scripted-model-server.ts";
import { ServerProcess } from "../../testing/server-process.ts";
import { until } from "../../testing/until.ts";

checkLeaksAfterEach();

const id = "33333333-3333-4333-8333-333333333333";
const order = "Have all parts made.";
const parts = ["one", "two", "three", "four"] as const;
const call = (name: string, given: object) => ({ name, arguments: { ...given } });

/** Each sub-agent goes to a folder of its own, marks its shell, and writes what the next command finds there. */
function turnsOf(part: string): ScriptTurn[] {
  const match = { last_user_contains: `Make part ${part}.` };
  return [
    { match, tool_calls: [call("terminal", { command: `mkdir ${part} && cd ${part} && me=${part}` })] },
    { match, tool_calls: [call("terminal", { command: 'echo "$me in ${PWD##*/}" >> ../ran.log' })] },
    // The first time it is asked the model says nothing until the server is killed.
    { match, tool_calls: [call("finish", { message: `Part ${part} is made.` })], hang: true, attempts: 1 },
  ];
}

test("issue 11.5, P6: kill -9 while four sub-agents work, each in a terminal of its own: all of them go on, and nothing is done twice", async () => {
  await using folder = await openTemporaryDirectory();
  const workspace = join(folder.path, "work");
  await mkdir(workspace);
  const parent = { match: { last_user_contains: order } };
  await using model = await startScriptedModel({
    script: {
      turns: [
        {
          ...parent,
          tool_calls: parts.map((part) =>
            call("task", { prompt: `Make part ${part}.`, subagent_type: "bash-runner" }),
          ),
        },
        { ...parent, tool_calls: [call("finish", { message: "All is made." })] },
        ...parts.flatMap(turnsOf),
      ],
    },
  });
  const dataDir = join(folder.path, "data");
  await using first = await ServerProcess.start({ dataDir });
  await first.client.startConversation({
    conversation_id: id,
    agent: {
      kind: "Agent",
      llm: { model: "openai/scripted", base_url: `${model.url}/v1`, api_key: "llm-key" },
      tools: [{ name: "task_tool_set" }],
    },
    workspace: { kind: "LocalWorkspace", working_dir: workspace },
    initial_message: { content: [{ type: "text", text: order }], run: true },
  });
  const lines = async (): Promise<string[]> =>
    ((await readIfThere(join(workspace, "ran.log"))) ?? "").split("\n").filter((line) => line !== "");
  // One request of the parent, three of each sub-agent, the last of which hangs.
  await until(async () => (await lines()).length === 4 && model.requests.length >= 13);
  await first.kill();

  await using second = await ServerProcess.start({ dataDir, port: first.port });
  await until(async () => (await second.client.getConversation(id)).execution_status === "finished");
  expect((await lines()).toSorted()).toEqual(parts.map((part) => `${part} in ${part}`).toSorted());
  const { items } = await second.client.searchEvents(id, { kind: "ObservationEvent" });
  const reports = items.filter((event) => event.kind === "ObservationEvent" && event.tool_name === "task");
  expect(reports).toHaveLength(4);
  for (const part of parts) expect(JSON.stringify(reports)).toContain(`Part ${part} is made.`);
  const { items: all } = await second.client.searchConversations({});
  expect(all).toHaveLength(5);
  expect(all.map((info) => info.execution_status)).toEqual(Array(5).fill("finished"));
});
