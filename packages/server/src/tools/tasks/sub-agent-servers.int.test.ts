import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startTestServer } from "../../testing/start-server.ts";

const program = fileURLToPath(new URL("../../testing/mcp/stdio-server.ts", import.meta.url));
const order = "Have it echoed.";
const prompt = "Echo the word.";
const call = (name: string, given: Record<string, unknown>) => ({ tool_calls: [{ name, arguments: given }] });
const token = "s3cr3t-of-the-server-9d81";

test("a sub-agent of the request has the MCP servers that it came with, and their keys stay hidden (P13)", async () => {
  const parent = { match: { last_user_contains: order } };
  await using server = await startTestServer({
    script: {
      turns: [
        { ...parent, ...call("task", { prompt, subagent_type: "echoer" }) },
        { ...parent, ...call("finish", { message: "It is echoed." }) },
        { match: { last_user_contains: prompt }, ...call("finish", { message: "Echoed." }) },
      ],
    },
    mcp: { times: { firstRetryMs: 50, reconnectTimeoutMs: 10_000 }, firstWaitMs: 20_000 },
    environment: { PATH: "/usr/local/bin:/usr/bin:/bin" },
  });
  const request = server.startRequest({ text: order });
  const { id } = await server.client.startConversation({
    ...request,
    agent: { ...request.agent, tools: [{ name: "task_tool_set" }] },
    agent_definitions: [
      {
        name: "echoer",
        description: "Echoes.",
        tools: [],
        skills: ["writing"],
        mcp_config: {
          mcpServers: {
            echo: { command: process.execPath, args: [program, "good"], env: { TOKEN: token } },
          },
        },
      },
    ],
  });
  await server.waitForStatus(id, "finished", 60_000);
  const page = await server.call("GET", "/api/conversations/search");
  const { items } = page.json as { items: { id: string; parent_conversation_id?: string }[] };
  const child = items.find((item) => item.parent_conversation_id === id)!;
  const asked = server.model.requests.find(({ text }) => text.includes(prompt))!;
  const names = (asked.body["tools"] as { function: { name: string } }[]).map((tool) => tool.function.name);
  expect(names.length).toBeGreaterThan(2);
  expect(names).not.toContain("task");
  const { text } = await server.call("GET", `/api/conversations/${child.id}`);
  expect(text).toContain("echo");
  expect(text).not.toContain(token);
  expect((await server.call("GET", `/api/conversations/${id}`)).text).not.toContain(token);
  // Its skill is not there, which is told and no reason to refuse.
  expect(await server.events(child.id)).toContainEqual(
    expect.objectContaining({
      key: "warning",
      value: expect.objectContaining({ code: "skills_unavailable", skills: ["writing"] }) as unknown,
    }),
  );
});

test("P55: servers that could never be reached, hooks, and a container of its own are refused by their fields", async () => {
  await using server = await startTestServer();
  for (const [more, loc] of [
    [
      { agent_definitions: [{ name: "a", mcp_config: { mcpServers: { x: { transport: "smoke" } } } }] },
      ["body", "agent_definitions", 0, "mcp_config"],
    ],
    [{ agent_definitions: [{ name: "a", hooks: { end: [] } }] }, ["body", "agent_definitions", 0, "hooks"]],
    [{ conversation_runtime: "docker" }, ["body", "conversation_runtime"]],
  ] as const) {
    const reply = await server.call("POST", "/api/conversations", { ...server.startRequest(), ...more });
    expect(reply.status, reply.text).toBe(422);
    const { detail } = reply.json as { detail: { loc: unknown[] }[] };
    expect(detail[0]!.loc.slice(0, loc.length)).toEqual(loc);
  }
});
