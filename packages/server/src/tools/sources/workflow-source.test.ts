import { expect, test } from "vitest";
import { startTestServer } from "../../testing/start-server.ts";

const script = `async function main(wf) {
  const reports = await wf.map_agents(["north", "south"], "Look {item}", { subagent_type: "bash-runner" });
  return reports.join(" / ");
}`;

test("client 4: a workflow's sub-agents are conversations of its own, and what its script returns is the result", async () => {
  await using server = await startTestServer({
    script: {
      turns: [
        { match: { last_user_contains: "Look north" }, text: "Snow." },
        { match: { last_user_contains: "Look south" }, text: "Sand." },
        {
          match: { last_user_contains: "go" },
          tool_calls: [{ name: "workflow", arguments: { name: "look", script } }],
        },
        { text: "Done." },
      ],
    },
  });
  const { agent } = server.startRequest();
  const tools = [{ name: "workflow_tool_set", params: {} }];
  const id = await server.runTo("finished", "go", { agent: { ...agent, tools }, tags: { by: "newer" } });
  const events = (await server.events(id)) as unknown as Record<string, unknown>[];
  expect(events.filter(({ key }) => key === "warning")).toEqual([]);
  expect(events.find(({ kind }) => kind === "ObservationEvent")).toMatchObject({
    tool_name: "workflow",
    observation: {
      kind: "WorkflowObservation",
      name: "look",
      status: "completed",
      is_error: false,
      content: [{ text: "Snow. / Sand." }],
    },
  });
  const offered = (server.model.requests[0]!.body["tools"] as { function: { name: string } }[]).map(
    (tool) => tool.function.name,
  );
  expect(offered).toEqual(["finish", "think", "workflow"]);
  const tasks = events.flatMap(({ key, value }) =>
    key === "task" ? [(value as { task_id: string }).task_id] : [],
  );
  const [child] = tasks;
  expect(new Set(tasks).size).toBe(2);
  expect((await server.call("GET", `/api/conversations/${child}`)).json).toMatchObject({
    parent_conversation_id: id,
  });
  await server.call("DELETE", `/api/conversations/${id}`);
  for (const task of tasks) expect((await server.call("GET", `/api/conversations/${task}`)).status).toBe(404);
});

test("client 4: a workflow that fails says so, with the reason of its agent", async () => {
  await using server = await startTestServer({
    script: {
      turns: [
        {
          match: { last_user_contains: "go" },
          tool_calls: [
            {
              name: "workflow",
              arguments: {
                name: "bad",
                script: "async function main(wf) { return await wf.run_agent('x', 'nobody') }",
              },
            },
          ],
        },
        { text: "Done." },
      ],
    },
  });
  const { agent } = server.startRequest();
  const tools = [{ name: "workflow", params: {} }];
  const id = await server.runTo("finished", "go", { agent: { ...agent, tools } });
  const events = (await server.events(id)) as unknown as Record<string, unknown>[];
  expect(events.find(({ kind }) => kind === "ObservationEvent")).toMatchObject({
    observation: { kind: "WorkflowObservation", status: "error", is_error: true },
  });
  expect(JSON.stringify(events)).toContain("There is no sub-agent");
});
