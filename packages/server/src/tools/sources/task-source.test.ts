import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConversationInfo, Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";
import type { ScriptToolCall, ScriptTurn } from "../../testing/scripted-model/script.ts";
import { until } from "../../testing/until.ts";

const order = "Have it counted.";
const prompt = "Count the files below src.";
const taskTools = [{ name: "terminal" }, { name: "task_tool_set" }];

type TaskArguments = { readonly prompt?: string; readonly subagent_type?: string; readonly resume?: string };

function call(name: string, argumentsOf: object): ScriptToolCall {
  return { name, arguments: { ...argumentsOf } };
}

/** The first answers to the person and to the sub-agent; then both finish. */
function script(task: TaskArguments, child: readonly ScriptTurn[]): { turns: ScriptTurn[] } {
  const parent = { match: { last_user_contains: order } };
  return {
    turns: [
      { ...parent, tool_calls: [call("task", { prompt, subagent_type: "code-explorer", ...task })] },
      { ...parent, tool_calls: [call("finish", { message: "It is counted." })] },
      ...child.map((turn) => ({ match: { last_user_contains: prompt }, ...turn })),
    ],
  };
}

const counts: readonly ScriptTurn[] = [
  { tool_calls: [call("terminal", { command: "count src" })] },
  { tool_calls: [call("finish", { message: "There are 41 files." })], usage: { cost: 0.02 } },
];

function withTasks(server: TestServer): Pick<ReturnType<TestServer["startRequest"]>, "agent"> {
  return { agent: { ...server.startRequest().agent, tools: taskTools } };
}

async function taskAnswer(
  server: TestServer,
  id: string,
): Promise<Record<string, unknown> & { text: string }> {
  const events = await server.events(id);
  const answer = events.find((event) => event.kind === "ObservationEvent" && event.tool_name === "task");
  const { observation } = answer as unknown as {
    observation: Record<string, unknown> & { content: { text: string }[] };
  };
  return { ...observation, text: observation.content.map(({ text }) => text).join("\n") };
}

function taskStates(events: readonly Event[]): string[] {
  return events.flatMap((event) =>
    event.kind === "ConversationStateUpdateEvent" && event.key === "task"
      ? [(event.value as { status: string }).status]
      : [],
  );
}

async function waitForTask(server: TestServer, id: string, status: string): Promise<string> {
  let taskId = "";
  await until(async () => {
    const events = await server.events(id);
    const news = events.findLast(
      (event) => event.kind === "ConversationStateUpdateEvent" && event.key === "task",
    );
    const value = (news as { value?: { task_id: string; status: string } } | undefined)?.value;
    if (value?.status === status) taskId = value.task_id;
    return taskId !== "";
  });
  return taskId;
}

test("loop 18: a sub-agent works in a conversation of its own, and its report and its cost come back", async () => {
  await using server = await startTestServer({ script: script({}, counts) });
  const id = await server.runTo("finished", order, withTasks(server));
  const answer = await taskAnswer(server, id);
  expect(answer).toMatchObject({ is_error: false, subagent: "code-explorer", status: "completed" });
  expect(answer.text).toContain("There are 41 files.");
  const taskId = answer["task_id"] as string;
  const child = (await server.client.getConversation(taskId)) as ConversationInfo & Record<string, unknown>;
  expect(child).toMatchObject({
    execution_status: "finished",
    parent_conversation_id: id,
    title: prompt,
    workspace: { working_dir: server.workspaceDir },
  });
  expect(child.agent.tools?.map(({ name }) => name)).toEqual(["terminal"]);
  expect(server.quickTools.started).toEqual(["count src"]);
  expect(taskStates(await server.events(id))).toEqual(["running", "finished"]);
  const info = await server.client.getConversation(id);
  expect(info.stats?.usage_to_metrics?.[`task:${taskId}`]?.accumulated_cost).toBeCloseTo(0.02);
  const [first] = server.model.requests.filter((request) => JSON.stringify(request).includes(prompt));
  expect(JSON.stringify(first)).not.toContain("subagent_type");
});

test("L23.5: what a sub-agent wants confirmed waits for the person, told in the log of the conversation that it works for", async () => {
  await using server = await startTestServer({ script: script({}, counts) });
  const { id } = await server.createConversation({
    ...withTasks(server),
    text: order,
    confirmation_policy: { kind: "AlwaysConfirm" },
  });
  await server.waitForStatus(id, "waiting_for_confirmation");
  const answerAll = (conversation: string, accept: boolean) =>
    server.call("POST", `/api/conversations/${conversation}/events/respond_to_confirmation`, { accept });
  expect((await answerAll(id, true)).status).toBe(200);
  const taskId = await waitForTask(server, id, "waiting_for_confirmation");
  expect(server.quickTools.started).toEqual([]);
  expect((await answerAll(taskId, true)).status).toBe(200);
  await server.waitForStatus(id, "finished");
  expect(server.quickTools.started).toEqual(["count src"]);
});

test("P43: an interrupt is answered when the sub-agent has stopped too, and the task resumes later with all that it knows", async () => {
  const asks = "Go on with the counting.";
  const again = "Count the rest.";
  const turns: ScriptTurn[] = [
    ...script({}, [{ tool_calls: [call("terminal", { command: "hold on" })] }]).turns,
  ];
  await using server = await startTestServer({ script: { turns } });
  const { id } = await server.createConversation({ ...withTasks(server), text: order });
  const taskId = await waitForTask(server, id, "running");
  await until(() => server.quickTools.started.length > 0);
  expect(server.quickTools.started).toEqual(["hold on"]);
  expect((await server.call("POST", `/api/conversations/${id}/interrupt`)).status).toBe(200);
  expect((await server.client.getConversation(taskId)).execution_status).toBe("paused");
  const stopped = (await server.events(id)).find((event) => event.kind === "AgentErrorEvent");
  expect(stopped).toMatchObject({ tool_name: "task" });
  const resumed = { prompt: again, resume: taskId, subagent_type: "code-explorer" };
  turns.push(
    { match: { last_user_contains: asks }, tool_calls: [call("task", resumed)] },
    { match: { last_user_contains: asks }, tool_calls: [call("finish", { message: "Done." })] },
    ...counts.map((turn) => ({ match: { last_user_contains: again }, ...turn })),
  );
  await server.client.sendMessage(id, { role: "user", content: [{ type: "text", text: asks }], run: true });
  await server.waitForStatus(id, "finished");
  expect((await taskAnswer(server, id))["task_id"]).toBe(taskId);
  const expected = (await server.events(taskId)).filter(
    (event) => event.kind === "MessageEvent" && event.source === "user",
  );
  expect(expected).toHaveLength(2);
});

test("P6: a server that stops in the middle of a task continues the same task, and nothing is done twice", async () => {
  const child: readonly ScriptTurn[] = [counts[0]!, { ...counts[1]!, hang: true, attempts: 1 }];
  await using server = await startTestServer({ script: script({}, child) });
  const { id } = await server.createConversation({ ...withTasks(server), text: order });
  const taskId = await waitForTask(server, id, "running");
  await until(() => server.model.requests.at(-1)?.turn === 3);
  expect(server.quickTools.started).toEqual(["count src"]);
  await server.restart();
  await server.waitForStatus(id, "finished");
  expect(server.quickTools.started).toEqual(["count src"]);
  expect(await taskAnswer(server, id)).toMatchObject({ task_id: taskId, status: "completed" });
  const orders = (await server.events(taskId)).filter(
    (event) => event.kind === "MessageEvent" && event.source === "user",
  );
  expect(orders).toHaveLength(1);
});

test.each([
  [{ subagent_type: "plumber" }, "code-explorer"],
  [{ resume: "0f5b1a3e-0000-8000-8000-000000000000" }, "no task"],
])("an order that cannot be carried out says what can be: %j", async (task, expected) => {
  await using server = await startTestServer({ script: script(task, counts) });
  const id = await server.runTo("finished", order, withTasks(server));
  const answer = await taskAnswer(server, id);
  expect(answer).toMatchObject({ is_error: true, status: "error" });
  expect(answer.text).toContain(expected);
  expect(server.quickTools.started).toEqual([]);
});

test("issue 11.5: a sub-agent that fails tells why, and what it has done until then", async () => {
  const child: readonly ScriptTurn[] = [
    { text: "First src.", tool_calls: [call("terminal", { command: "count src", summary: "Counts src" })] },
    { text: "Then lib.", tool_calls: [call("terminal", { command: "count lib", summary: "Counts lib" })] },
    { error: { status: 401, message: "no such key" } },
  ];
  await using server = await startTestServer({ script: script({}, child) });
  const id = await server.runTo("finished", order, withTasks(server));
  const answer = await taskAnswer(server, id);
  expect(answer).toMatchObject({ is_error: true, status: "error" });
  expect(answer.text).toContain("no such key");
  expect(answer.text).toContain("the last 2 calls:\n- First src. Counts src\n- Then lib. Counts lib");
});

test("a sub-agent has at most what the conversation has left, and its limits are the closer ones", async () => {
  const file = [
    "---",
    "name: counter",
    "description: Counts.",
    "tools: terminal",
    "permission_mode: never_confirm",
    "max_iteration_per_run: 7",
    "max_budget_per_run: 5",
    "---",
    "You count, and you say so.",
  ].join("\n");
  await using server = await startTestServer({ script: script({ subagent_type: "counter" }, counts) });
  const agents = join(server.workspaceDir, ".agents", "agents");
  await mkdir(agents, { recursive: true });
  await writeFile(join(agents, "counter.md"), file);
  const { id } = await server.createConversation({
    ...withTasks(server),
    text: order,
    max_budget_per_task: 2,
    max_iterations: 50,
    confirmation_policy: { kind: "ConfirmRisky", threshold: "HIGH", confirm_unknown: false },
  });
  await server.waitForStatus(id, "finished");
  const taskId = (await taskAnswer(server, id))["task_id"] as string;
  expect(await server.client.getConversation(taskId)).toMatchObject({
    max_iterations: 7,
    confirmation_policy: { kind: "ConfirmRisky" },
  });
  const spend = await server.call("GET", `/api/conversations/${taskId}/spend`);
  expect((spend.json as { max_budget_per_task: number }).max_budget_per_task).toBeLessThanOrEqual(2);
  const [prompted] = await server.events(taskId);
  expect(JSON.stringify(prompted)).toContain("You count, and you say so.");
});

test("deleting a conversation deletes what its sub-agents did", async () => {
  await using server = await startTestServer({ script: script({}, counts) });
  const id = await server.runTo("finished", order, withTasks(server));
  const taskId = (await taskAnswer(server, id))["task_id"] as string;
  expect((await server.call("DELETE", `/api/conversations/${id}`)).status).toBe(200);
  expect((await server.call("GET", `/api/conversations/${taskId}`)).status).toBe(404);
});

test("without the tool there is no task, and the tool is in the list", async () => {
  await using server = await startTestServer({ script: script({}, counts) });
  const id = await server.runTo("finished", order);
  const refused = (await server.events(id)).find((event) => event.kind === "AgentErrorEvent");
  expect(refused).toMatchObject({ tool_name: "task", error: expect.stringContaining("no tool") as string });
  expect((await server.call("GET", "/api/tools/")).json).toContain("task_tool_set");
});
