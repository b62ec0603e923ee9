import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AgentDefinition, Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import type { ScriptTurn } from "../../testing/scripted-model/script.ts";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";

const order = "Have it written.";
const prompt = "Write of the sea.";
const call = (name: string, given: object) => ({ name, arguments: { ...given } });
const steps = 12;

/** The parent gives one task to the poet; what the poet does is told by what it saw last. */
function script(child: readonly ScriptTurn[]): { turns: ScriptTurn[]; unique_ids: true } {
  const parent = { match: { last_user_contains: order } };
  return {
    unique_ids: true,
    turns: [
      { ...parent, tool_calls: [call("task", { prompt, subagent_type: "poet" })] },
      { ...parent, tool_calls: [call("finish", { message: "It is written." })] },
      ...child,
    ],
  };
}

const writes: readonly ScriptTurn[] = [
  { match: { last_user_contains: prompt }, tool_calls: [call("terminal", { command: "verse 1." })] },
  ...Array.from({ length: steps }, (_, index) => ({
    match: { last_tool_output_contains: `verse ${index + 1}.` },
    tool_calls: [
      index + 1 < steps
        ? call("terminal", { command: `verse ${index + 2}.` })
        : call("finish", { message: "The sea, the sea." }),
    ],
  })),
  { match: { last_user_contains: "Write the notes now." }, text: "NOTES: verses were written." },
];

async function begin(server: TestServer, poet: Partial<AgentDefinition>, context?: object): Promise<string> {
  const { agent } = server.startRequest();
  const tools = [{ name: "task_tool_set" }];
  const { id } = await server.createConversation({
    text: order,
    agent: { ...agent, tools, ...(context === undefined ? {} : { agent_context: context }) },
    agent_definitions: [{ name: "poet", tools: ["terminal"], ...poet }],
  });
  await server.waitForStatus(id, "finished");
  return id;
}

async function childOf(server: TestServer, id: string): Promise<{ id: string; events: readonly Event[] }> {
  const { items } = await server.client.searchConversations();
  const child = items.find((item) => item.parent_conversation_id === id)!;
  return { id: child.id, events: await server.events(child.id) };
}

async function put(server: TestServer, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(server.folder, path)), { recursive: true });
  await writeFile(join(server.folder, path), text);
}

function warnings(events: readonly Event[]): unknown[] {
  return events.flatMap((event) =>
    event.kind === "ConversationStateUpdateEvent" && event.key === "warning" ? [event.value] : [],
  );
}

test("issue 11.5: a sub-agent has the skills that it names, the person's too, in its prompt and its tool; others it has not", async () => {
  const load: ScriptTurn[] = [
    { match: { last_user_contains: prompt }, tool_calls: [call("invoke_skill", { name: "rhyme" })] },
    { match: { last_user_contains: prompt }, tool_calls: [call("finish", { message: "Written." })] },
  ];
  await using server = await startTestServer({ script: script(load) });
  await server.restart({ homeDir: join(server.folder, "home") });
  await put(server, "home/.agents/skills/rhyme/SKILL.md", "---\ndescription: Rhymes.\n---\nSea and tree.");
  await put(server, "home/.agents/skills/other/SKILL.md", "---\ndescription: Of no use.\n---\nNo.");
  await put(server, "home/.agents/skills/style.md", "A note of the person.");
  await put(server, "work/.agents/skills/metre/SKILL.md", "---\ndescription: Iambs.\n---\nDa dum.");
  const context = {
    skills: [
      { name: "house", content: "House rules hold." },
      { name: "given", content: "Given.", description: "Given too.", is_agentskills_format: true },
      { name: "unnamed", content: "Unnamed.", description: "Not for it.", is_agentskills_format: true },
    ],
  };
  const id = await begin(server, { skills: ["rhyme", " given", "metre", "absent"] }, context);
  const child = await childOf(server, id);
  const asked = server.model.requests.find(({ text }) => text.includes(prompt) && !text.includes(order))!;
  for (const words of ["- rhyme: Rhymes.", "- given: Given too.", "House rules hold.", "invoke_skill"])
    expect(asked.text).toContain(words);
  for (const words of ["Of no use.", "Not for it.", "A note of the person.", "Iambs."])
    expect(asked.text).not.toContain(words);
  const read = child.events.find(({ kind }) => kind === "ObservationEvent");
  expect(JSON.stringify(read)).toContain("Sea and tree.");
  // What a project says is read only when it is asked for.
  expect(warnings(child.events)).toMatchObject([{ code: "skills_unavailable", skills: ["metre", "absent"] }]);

  const again = await begin(server, { skills: ["metre"] }, { ...context, load_project_skills: true });
  const { events } = await childOf(server, again);
  expect(JSON.stringify(events[0])).toContain("- metre: Iambs.");
  expect(warnings(events)).toEqual([]);
});

test("issue 11.5: the condenser that a sub-agent came with drives its condensation, with a key that stays hidden (P13)", async () => {
  await using server = await startTestServer({ script: script(writes) });
  const key = "key-of-the-condenser-77";
  const llm = { model: "openai/small", base_url: `${server.model.url}/v1`, api_key: key };
  const id = await begin(server, { condenser: { llm, max_size: 8, keep_first: 2 } });
  const child = await childOf(server, id);
  expect(child.events.map(({ kind }) => kind)).toContain("Condensation");
  const summary = server.model.requests.find(({ text }) => text.includes("Write the notes now."))!;
  expect(summary.body["model"]).toBe("small");
  expect(server.model.requests.at(-2)!.text).toContain("NOTES: verses were written.");
  for (const path of [id, child.id, `${id}/events/search`, `${child.id}/events/search`])
    expect((await server.call("GET", `/api/conversations/${path}`)).text).not.toContain(key);
  expect((await server.client.getConversation(child.id)).agent.condenser).toMatchObject({
    kind: "LLMSummarizingCondenser",
    max_size: 8,
    llm: { model: "openai/small", api_key: null },
  });
  expect((await server.client.getConversation(id)).agent_definitions).toMatchObject([
    { condenser: { max_size: 8, llm: { api_key: null } } },
  ]);
});

test("issue 11.5: a condenser without a model writes with the sub-agent's own, also after a restart; none is none", async () => {
  await using server = await startTestServer({ script: script(writes) });
  const id = await begin(server, { condenser: { kind: "PipelineCondenser", condensers: [{ max_size: 8 }] } });
  const child = await childOf(server, id);
  expect(child.events.map(({ kind }) => kind)).toContain("Condensation");
  const summary = server.model.requests.find(({ text }) => text.includes("Write the notes now."))!;
  expect(summary.body["model"]).toBe("scripted");
  await server.restart();
  expect((await server.client.getConversation(child.id)).agent.condenser).toMatchObject({
    condensers: [{ kind: "LLMSummarizingCondenser", max_size: 8, llm: { model: "openai/scripted" } }],
  });
  const { agent } = server.startRequest();
  const parents = { kind: "LLMSummarizingCondenser", llm: agent.llm, max_size: 8 } as const;
  const other = await server.createConversation({
    text: order,
    agent: { ...agent, condenser: parents, tools: [{ name: "task_tool_set" }] },
    agent_definitions: [{ name: "poet", tools: ["terminal"], condenser: "none" }],
  });
  await server.waitForStatus(other.id, "finished");
  const { events } = await childOf(server, other.id);
  expect(events.map(({ kind }) => kind)).not.toContain("Condensation");
});

test("P55: a condenser that is none is refused by its field", async () => {
  await using server = await startTestServer();
  for (const condenser of ["sometimes", { max_size: 0 }, { kind: "Other" }, { llm: { model: 7 } }, [1]]) {
    const body = { ...server.startRequest(), agent_definitions: [{ name: "poet", condenser }] };
    const reply = await server.call("POST", "/api/conversations", body);
    expect(reply.status, reply.text).toBe(422);
    const { detail } = reply.json as { detail: { loc: unknown[] }[] };
    expect(detail[0]!.loc.slice(0, 4)).toEqual(["body", "agent_definitions", 0, "condenser"]);
  }
});
