import { expect, test } from "vitest";
import type { ScriptTurn } from "../testing/scripted-model/script.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../testing/start-server.ts";
import { until } from "../testing/until.ts";

const shell = (command: string) => ({ name: "terminal", arguments: { command } });

async function openOn(server: TestServer, options: TestServerOptions): Promise<TestServer> {
  return await startTestServer({
    ...options,
    config: { dataDir: server.dataDir, workspaceRoot: server.workspaceDir },
  });
}

test("P64: a run of a command that has ended is shown as interrupted by the next server, and resumes when asked", async () => {
  const turns: ScriptTurn[] = [{ tool_calls: [shell("hold on")] }, { text: "Done." }];
  await using command = await startTestServer({ isAttended: true, script: { turns } });
  const { id } = await command.createConversation({ text: "go" });
  await until(() => command.quickTools.started.length === 1);
  await command.close();
  await using server = await openOn(command, {});
  await server.waitForStatus(id, "paused");
  const log = await server.events(id);
  expect(log.slice(-2)).toMatchObject([
    { kind: "PauseEvent", source: "environment" },
    { key: "warning", value: { code: "run_interrupted" } },
  ]);
  expect(server.quickTools.started).toEqual([]);
  await server.client.run(id);
  await server.waitForStatus(id, "finished");
  // From here on it is a run of the server.
  expect((await server.events(id)).filter(({ kind }) => kind === "PauseEvent")).toHaveLength(1);
});

test("P64: a server's run resumes by itself at the next server, and not in the process of a command", async () => {
  const turns: ScriptTurn[] = [{ tool_calls: [shell("hold on")] }, { text: "Done." }];
  await using first = await startTestServer({ script: { turns } });
  const { id } = await first.createConversation({ text: "go" });
  await until(() => first.quickTools.started.length === 1);
  await first.close();
  await using command = await openOn(first, { isAttended: true });
  expect((await command.client.getConversation(id)).execution_status).toBe("running");
  await using next = await openOn(first, {});
  await next.waitForStatus(id, "finished");
  expect((await next.events(id)).filter(({ kind }) => kind === "PauseEvent")).toEqual([]);
});

test("P64: a sub-agent of an interrupted run resumes with the run", async () => {
  const prompt = "Count the files.";
  const parent = { match: { last_user_contains: "Have it counted." } };
  const child = { match: { last_user_contains: prompt } };
  const turns: ScriptTurn[] = [
    { ...parent, tool_calls: [{ name: "task", arguments: { prompt } }] },
    { ...parent, tool_calls: [{ name: "finish", arguments: { message: "Counted." } }] },
    { ...child, tool_calls: [shell("hold on")] },
    { ...child, tool_calls: [{ name: "finish", arguments: { message: "Seven." } }] },
  ];
  await using command = await startTestServer({ isAttended: true, script: { turns } });
  const { agent } = command.startRequest();
  const tools = [{ name: "terminal" }, { name: "task_tool_set" }];
  const { id } = await command.createConversation({ text: "Have it counted.", agent: { ...agent, tools } });
  await until(() => command.quickTools.started.length === 1);
  await command.close();
  await using server = await openOn(command, {});
  server.quickTools.release();
  await server.waitForStatus(id, "paused");
  expect(await server.client.countConversations("running")).toBe(0);
  await server.client.run(id);
  await server.waitForStatus(id, "finished");
  const answers = (await server.events(id)).filter(
    (event) => event.kind === "ObservationEvent" && event.tool_name === "task",
  );
  expect(answers).toMatchObject([{ observation: { status: "completed" } }]);
});
