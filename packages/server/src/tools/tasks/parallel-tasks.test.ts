import { expect, test } from "vitest";
import type { ScriptTurn } from "../../testing/scripted-model/script.ts";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";
import { until } from "../../testing/until.ts";
import { claimOf, startable, type Claim } from "../../engine/run/claims.ts";

const order = "Have all of it counted.";
const parts = ["one", "two", "three", "four", "five"] as const;

/** The parent gives a task for each part and finishes; each sub-agent runs one command and reports. */
function script(count: number, verb: string): { turns: ScriptTurn[] } {
  const parent = { match: { last_user_contains: order } };
  const chosen = parts.slice(0, count);
  const task = (part: string) => ({ name: "task", arguments: { prompt: `Count part ${part}.` } });
  return {
    turns: [
      { ...parent, tool_calls: chosen.map(task) },
      { ...parent, tool_calls: [{ name: "finish", arguments: { message: "Counted." } }] },
      ...chosen.flatMap((part): ScriptTurn[] => {
        const match = { last_user_contains: `Count part ${part}.` };
        return [
          { match, tool_calls: [{ name: "terminal", arguments: { command: `${verb} ${part}` } }] },
          { match, tool_calls: [{ name: "finish", arguments: { message: `Part ${part} has 7 files.` } }] },
        ];
      }),
    ],
  };
}

async function begin(server: TestServer, more: object = {}, agentFields: object = {}): Promise<string> {
  const { agent } = server.startRequest();
  const tools = [{ name: "terminal" }, { name: "task_tool_set" }];
  const { id } = await server.createConversation({
    text: order,
    agent: { ...agent, ...agentFields, tools },
    ...more,
  });
  return id;
}

const task = (id: string, resume?: string, oneTask = false): Claim =>
  claimOf(
    {
      id,
      toolName: "task",
      action: { kind: "TaskAction", prompt: "p", ...(resume === undefined ? {} : { resume }) } as never,
    },
    undefined,
    oneTask,
  );

test("tasks of one answer run side by side up to the limit; one conversation of a task, and a budget, are one place", () => {
  const five = parts.map((part) => task(part));
  expect(startable(five, new Set(), undefined)).toEqual(["one", "two", "three", "four"]);
  expect(startable(five, new Set(["one", "two"]), undefined)).toEqual(["three", "four"]);
  expect(startable(five, new Set(), 2)).toEqual(["one", "two"]);
  expect(startable(five, new Set(), 1)).toEqual(["one"]);
  expect(startable(five, new Set(), 8)).toEqual([...parts]);
  expect(startable([task("a", "t"), task("b", "t"), task("c", "u")], new Set(), undefined)).toEqual([
    "a",
    "c",
  ]);
  const shell = claimOf({ id: "sh", toolName: "terminal", action: null }, undefined);
  expect(startable([task("a"), shell, task("b")], new Set(), undefined)).toEqual(["a"]);
  expect(startable([task("a", undefined, true), task("b", undefined, true)], new Set(), 8)).toEqual(["a"]);
});

test("four sub-agents work at once, and the model reads their reports in the order of its calls", async () => {
  await using server = await startTestServer({ script: script(4, "hold") });
  const id = await begin(server);
  await until(() => server.quickTools.started.length === 4);
  server.quickTools.release();
  await server.waitForStatus(id, "finished");
  const last = server.model.requests.findLast(({ text }) => text.includes(order))!.text;
  const places = parts.slice(0, 4).map((part) => last.indexOf(`Part ${part} has 7 files.`));
  expect(places.every((place) => place > 0)).toBe(true);
  expect(places).toEqual(places.toSorted((left, right) => left - right));
});

test.each([
  ["a limit of one", {}, { tool_concurrency_limit: 1 }],
  ["a budget", { max_budget_per_task: 5 }, {}],
] as const)("with %s sub-agents work one after another", async (_what, more, agentFields) => {
  await using server = await startTestServer({ script: script(2, "hold") });
  const id = await begin(server, more, agentFields);
  await until(() => server.quickTools.started.length === 1);
  // The parent notes the task when it has begun; its first tool may be faster.
  const tasks = async () =>
    (await server.events(id)).filter(
      (event) => event.kind === "ConversationStateUpdateEvent" && event.key === "task",
    ).length;
  await expect.poll(tasks).toBe(1);
  server.quickTools.release();
  await server.waitForStatus(id, "finished");
  expect(server.quickTools.started).toEqual(["hold one", "hold two"]);
});

test("P43: an interrupt is answered when all sub-agents have stopped, and each call has its one answer", async () => {
  await using server = await startTestServer({ script: script(4, "hold") });
  const id = await begin(server);
  await until(() => server.quickTools.started.length === 4);
  expect((await server.call("POST", `/api/conversations/${id}/interrupt`)).status).toBe(200);
  const { items } = (await server.call("GET", "/api/conversations/search?limit=20")).json as {
    items: { id: string; execution_status: string }[];
  };
  expect(items.map(({ execution_status: status }) => status)).toEqual(Array(5).fill("paused"));
  const answers = (await server.events(id)).filter(({ kind }) => kind === "AgentErrorEvent");
  expect(new Set(answers.map((event) => (event as { tool_call_id?: string }).tool_call_id)).size).toBe(4);
  expect(answers).toHaveLength(4);
});

test("P6: a server that ends while four sub-agents work continues the same four, and nothing is done twice", async () => {
  const { turns } = script(4, "count");
  const reports = turns.filter(({ tool_calls: calls }) => calls?.[0]?.name === "finish").slice(1);
  for (const turn of reports) Object.assign(turn, { hang: true, attempts: 1 });
  await using server = await startTestServer({ script: { turns } });
  const id = await begin(server);
  await until(() => server.quickTools.started.length === 4);
  await until(() => server.model.requests.length === 9);
  await server.restart();
  await server.waitForStatus(id, "finished");
  expect(server.quickTools.started.toSorted()).toEqual(
    parts
      .slice(0, 4)
      .map((part) => `count ${part}`)
      .toSorted(),
  );
  const answers = (await server.events(id)).filter(
    (event) => event.kind === "ObservationEvent" && event.tool_name === "task",
  );
  expect(answers).toHaveLength(4);
});
