import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { toolDefinitionSchemaByKind } from "@convoke/protocol";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../testing/start-server.ts";

test("L23.35, L23.36: skills of the workspace reach the prompt, the message that names them, and the tool that loads them", async () => {
  await using server = await startTestServer({
    script: {
      turns: [
        { tool_calls: [{ name: "invoke_skill", arguments: { name: "deploy" } }] },
        { text: "Done." },
        { text: "Again." },
      ],
    },
  });
  await put(server.workspaceDir, "AGENTS.md", "Always write tests.");
  await put(
    server.workspaceDir,
    ".agents/skills/deploy/SKILL.md",
    "---\ndescription: How.\n---\nPush the button.",
  );
  await put(
    server.workspaceDir,
    ".openhands/microagents/git.md",
    "---\ntriggers: [git]\n---\nRebase, never merge.",
  );
  await put(server.workspaceDir, ".agents/skills/broken/SKILL.md", "---\nname: [\n---\n");
  const { id } = await server.createConversation({
    text: "use git",
    tags: { by: "newer" },
    agent: projectAgent(server),
  });
  await server.waitForStatus(id, "finished");
  await server.call("POST", `/api/conversations/${id}/events`, {
    role: "user",
    content: [{ type: "text", text: "git again" }],
    run: true,
  });
  await server.waitForStatus(id, "finished");
  const page = await server.call("GET", `/api/conversations/${id}/events/search?limit=100`);
  const all = (page.json as { items: Record<string, unknown>[] }).items;
  expect(all.filter(({ kind }) => kind === "MessageEvent")).toHaveLength(4);
  const prompt = JSON.stringify(all.find(({ kind }) => kind === "SystemPromptEvent"));
  expect(prompt).toContain("Always write tests.");
  expect(prompt).toContain("- deploy: How.");
  expect(prompt).not.toContain("Push the button.");
  const messages = all.filter(({ kind, source }) => kind === "MessageEvent" && source === "user");
  expect(messages.map((event) => event["activated_skills"] ?? [])).toEqual([["git"], []]);
  expect(JSON.stringify(messages[0]!["extended_content"])).toContain("Rebase, never merge.");
  const answer = all.find(({ kind }) => kind === "ObservationEvent");
  expect(answer).toMatchObject({
    tool_name: "invoke_skill",
    observation: { kind: "InvokeSkillObservation", skill_name: "deploy", is_error: false },
  });
  expect(JSON.stringify(answer)).toContain("Push the button.");
  // invoked_skills_are_told, over a restart too.
  await server.restart();
  expect(await server.client.getConversation(id)).toMatchObject({ invoked_skills: ["deploy"] });
  expect(server.log.find(({ message }) => message === "skill left out")).toBeDefined();
});

test("P57: a repository's skill gives a client of the contract alone no kind that it does not know", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "Done." }] } });
  const path = ".agents/skills/deploy/SKILL.md";
  await put(server.workspaceDir, path, "---\ndescription: How.\n---\nPush the button.");
  const id = await server.runTo("finished", "go", { agent: projectAgent(server) });
  const prompt = (await server.events(id)).find((event) => event.kind === "SystemPromptEvent")!;
  const kinds = prompt.tools.map(({ kind }) => kind);
  expect(kinds).not.toContain("InvokeSkillTool");
  for (const kind of kinds) expect(Object.keys(toolDefinitionSchemaByKind)).toContain(kind);
  // What the skill says can be read all the same.
  expect(JSON.stringify(prompt)).toContain(`- deploy: How. (${join(server.workspaceDir, path)})`);
  expect(JSON.stringify(prompt)).not.toContain("invoke_skill");
});

test("clients 0: AGENTS.md and skills of a project are read only when the agent's context or the settings ask for them", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "Done." }], loop: true } });
  await put(server.workspaceDir, "AGENTS.md", "Always write tests.");
  const promptOf = async (start: object): Promise<string> => {
    const id = await server.runTo("finished", "go", start);
    return JSON.stringify((await server.events(id)).find(({ kind }) => kind === "SystemPromptEvent"));
  };
  const { agent } = server.startRequest();
  expect(await promptOf({})).not.toContain("Always write tests.");
  const withUser = { ...agent, agent_context: { load_user_skills: true } };
  expect(await promptOf({ agent: withUser })).not.toContain("Always write tests.");
  expect(await promptOf({ agent: projectAgent(server) })).toContain("Always write tests.");

  const settingsOf = async (project?: boolean): Promise<void> => {
    const context = project === undefined ? {} : { agent_context: { load_project_skills: project } };
    const diff = { agent_settings_diff: { llm: agent.llm, ...context } };
    const { status, text } = await server.call("PATCH", "/api/settings", diff);
    expect(status, text).toBe(200);
  };
  await settingsOf();
  expect(await promptOf({ agent: undefined })).not.toContain("Always write tests.");
  await settingsOf(true);
  expect(await promptOf({ agent: undefined })).toContain("Always write tests.");
});

function projectAgent(server: TestServer) {
  return { ...server.startRequest().agent, agent_context: { load_project_skills: true } };
}

async function put(folder: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}
