import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Event, SubAgentInfo } from "@convoke/protocol";
import { expect, test } from "vitest";
import { readIfThere } from "../../lib/read-if-there.ts";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";

const program = fileURLToPath(new URL("../../testing/mcp/stdio-server.ts", import.meta.url));
const order = "Have it echoed.";
const prompt = "Echo the word.";
const token = "s3cr3t-of-a-file-9d81";
const call = (name: string, given: object) => ({ tool_calls: [{ name, arguments: { ...given } }] });

async function start(): Promise<TestServer> {
  const parent = { match: { last_user_contains: order } };
  const server = await startTestServer({
    script: {
      turns: [
        { ...parent, ...call("task", { prompt, subagent_type: "echoer" }) },
        { ...parent, ...call("finish", { message: "It is echoed." }) },
        { match: { last_user_contains: prompt }, ...call("invoke_skill", { name: "rhyme" }) },
        { match: { last_user_contains: prompt }, ...call("finish", { message: "Echoed." }) },
      ],
    },
    mcp: { times: { firstRetryMs: 50, reconnectTimeoutMs: 10_000 }, firstWaitMs: 20_000 },
    environment: { PATH: "/usr/local/bin:/usr/bin:/bin" },
  });
  await server.restart({ homeDir: join(server.folder, "home") });
  return server;
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** As a person writes it; JSON is YAML. */
function agentFile(head: object): string {
  const lines = Object.entries({ name: "echoer", description: "Echoes.", tools: "", ...head });
  return ["---", ...lines.map(([key, value]) => `${key}: ${JSON.stringify(value)}`), "---", "Echo."].join(
    "\n",
  );
}

function full(server: TestServer): object {
  const hook = { type: "command", command: `echo guarded >> ${join(server.folder, "hooks.log")}` };
  return {
    skills: "rhyme",
    condenser: { max_size: 70 },
    hooks: { pre_tool_use: [{ matcher: "*", hooks: [hook] }] },
    mcp_servers: { echo: { command: process.execPath, args: [program, "good"], env: { TOKEN: token } } },
  };
}

async function run(
  server: TestServer,
  more: object = {},
): Promise<{ answer: string; child: Record<string, unknown> | null; text: string; asked: string }> {
  const before = server.model.requests.length;
  const { agent } = server.startRequest();
  const { id } = await server.createConversation({
    text: order,
    agent: { ...agent, tools: [{ name: "task_tool_set" }] },
    tags: { by: "newer" },
    ...more,
  });
  await server.waitForStatus(id, "finished", 60_000);
  const events: readonly Event[] = await server.events(id);
  const answer = events.find((event) => event.kind === "ObservationEvent" && event.tool_name === "task");
  const { items } = await server.client.searchConversations();
  const found = items.find((item) => item.parent_conversation_id === id);
  const shown = found === undefined ? null : await server.call("GET", `/api/conversations/${found.id}`);
  const log = found === undefined ? "" : JSON.stringify(await server.events(found.id));
  const asked = server.model.requests.slice(before).find(({ text }) => !text.includes(order));
  return {
    answer: JSON.stringify(answer),
    child: (shown?.json ?? null) as Record<string, unknown> | null,
    text: JSON.stringify(events) + (shown?.text ?? "") + log,
    asked: asked === undefined ? "" : JSON.stringify(asked.body),
  };
}

async function listed(server: TestServer): Promise<{ text: string; echoer: SubAgentInfo }> {
  const reply = await server.call("POST", "/api/sub-agents", { project_dir: server.workspaceDir });
  const { agents } = reply.json as { agents: SubAgentInfo[] };
  return { text: reply.text, echoer: agents.find(({ name }) => name === "echoer")! };
}

test("issue 11.5: skills, condenser, hooks and MCP servers of a person's file work, and its keys stay hidden (P13)", async () => {
  await using server = await start();
  await put(
    join(server.folder, "home/.agents/skills/rhyme/SKILL.md"),
    "---\ndescription: Rhymes.\n---\nSea and tree.",
  );
  await put(join(server.folder, "home/.agents/agents/echoer.md"), agentFile(full(server)));
  const { answer, child, text, asked } = await run(server);
  expect(answer).toContain("Echoed.");
  expect(asked).toContain("- rhyme: Rhymes.");
  expect(asked).toContain("Says it back.");
  expect(child).toMatchObject({ agent: { condenser: { max_size: 70, llm: { model: "openai/scripted" } } } });
  expect(await readIfThere(join(server.folder, "hooks.log"))).toContain("guarded");
  expect(text).toContain("Sea and tree.");
  expect(text).not.toContain(token);
  const { text: list, echoer } = await listed(server);
  expect(echoer).toMatchObject({ level: "user", skills: ["rhyme"], condenser: { max_size: 70 } });
  expect(echoer.mcp_config).toHaveProperty("echo");
  expect(list).not.toContain(token);
});

test("issue 11.5: a project's file has its condenser, and starts no program: with hooks or servers it gets no task, and says why", async () => {
  await using server = await start();
  const path = join(server.workspaceDir, ".agents/agents/echoer.md");
  for (const field of ["hooks", "mcp_servers"] as const) {
    await put(path, agentFile({ [field]: (full(server) as Record<string, unknown>)[field] }));
    const { answer, child } = await run(server, { agent: loadingProject(server) });
    expect(answer).toContain("echoer.md gets no tasks");
    expect(answer).toContain(`It brings ${field === "hooks" ? "hooks" : "mcp_config"}`);
    expect(answer).toContain("agent_definitions");
    expect(child).toBeNull();
  }
  expect(await readIfThere(join(server.folder, "hooks.log"))).toBeNull();

  await put(
    join(server.workspaceDir, ".agents/skills/rhyme/SKILL.md"),
    "---\ndescription: Rhymes.\n---\nSea and tree.",
  );
  await put(path, agentFile({ skills: ["rhyme"], condenser: "none" }));
  const { answer, child, asked } = await run(server, { agent: loadingProject(server) });
  expect(answer).toContain("Echoed.");
  expect(asked).toContain("- rhyme: Rhymes.");
  expect(child).toMatchObject({ agent: { condenser: { kind: "NoOpCondenser" } } });
});

test("P55: what a file says and nobody can carry out is an answer that names the field; a description that holds itself is none", async () => {
  await using server = await start();
  const path = join(server.folder, "home/.agents/agents/echoer.md");
  for (const [head, words] of [
    [{ hooks: { sometime: [] } }, "hooks.sometime"],
    [{ hooks: ["x"] }, "hooks.value"],
    [{ mcp_config: { mcpServers: { x: { transport: "smoke" } } } }, "mcp_config.x.transport"],
    [{ condenser: "often" }, "condenser.kind"],
    [{ condenser: { llm: { model: "theirs" } } }, "condenser.llm"],
    [{ condenser: { kind: "PipelineCondenser", condensers: [{ max_size: 0 }] } }, "condensers.0.max_size"],
  ] as const) {
    await put(path, agentFile(head));
    const { answer, child } = await run(server);
    expect(answer).toContain(words);
    expect(child).toBeNull();
  }
  await put(path, "---\nname: echoer\nmcp_config: &a\n  x: *a\n---\nEcho.");
  expect((await run(server)).answer).toContain("There is no sub-agent");
});

function loadingProject(server: TestServer): object {
  const { agent } = server.startRequest();
  return {
    ...agent,
    tools: [{ name: "task_tool_set" }],
    agent_context: {
      load_project_skills: true,
      skills: [],
      load_user_skills: false,
      load_public_skills: false,
    },
  };
}
