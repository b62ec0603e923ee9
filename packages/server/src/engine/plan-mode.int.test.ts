import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Event } from "@convoke/protocol";
import { defaultTools } from "@convoke/tool-host";
import { expect, onTestFinished, test } from "vitest";
import { startTestServer, type TestServer } from "../testing/start-server.ts";
import type { Script } from "../testing/scripted-model/script.ts";

const call = (name: string, given: object) => ({
  tool_calls: [{ name, arguments: given as Record<string, unknown> }],
});
const words = "Write to built.txt.";

function planning(workspaceDir: string): Script["turns"] {
  const path = join(workspaceDir, ".agents_tmp", "PLAN.md");
  return [
    call("terminal", { command: "echo early > early.txt" }),
    call("planning_file_editor", { command: "create", path, file_text: "# 1. Objective\n\nA file.\n" }),
    call("finish", { message: "The plan is written." }),
  ];
}

/** The form of the official SDK's planning preset. */
const preset = {
  tools: ["glob", "grep", "planning_file_editor"].map((name) => ({ name })),
  system_prompt_filename: "system_prompt_planning.j2",
  system_prompt_kwargs: { plan_structure: "Five headings, in this order." },
};

async function openPlanned(
  agent: object = preset,
  more: object = {},
): Promise<{ server: TestServer; id: string }> {
  const turns: Script["turns"][number][] = [];
  const server = await startTestServer({
    script: { turns },
    tools: defaultTools(),
    environment: { PATH: process.env["PATH"] ?? "", HOME: "/tmp" },
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  turns.push(
    ...planning(server.workspaceDir),
    call("terminal", { command: "echo done > built.txt" }),
    call("finish", { message: "It is built." }),
  );
  const request = server.startRequest({ text: "Build a file." });
  const { id } = await server.client.startConversation({
    ...request,
    agent: { ...request.agent, ...agent },
    ...more,
  });
  return { server, id };
}

test("F26: an agent that plans changes nothing but its plan, and one approval has it carry the plan out", async () => {
  const { server, id } = await openPlanned();
  await server.waitForStatus(id, "finished");
  const planned = await server.events(id);
  expect(
    promptOf(planned)
      .tools?.map(({ kind }) => kind)
      .toSorted(),
  ).toEqual(["FinishTool", "GlobTool", "GrepTool", "PlanningFileEditorTool", "ThinkTool"]);
  expect(promptOf(planned).dynamic_context!.text).toMatch(
    /<plan_mode>[^<]+Five headings, in this order\.\n</u,
  );
  expect(await readdir(server.workspaceDir)).toEqual([".agents_tmp"]);
  const plan = join(server.workspaceDir, ".agents_tmp", "PLAN.md");
  expect(await readFile(plan, "utf8")).toBe("# 1. Objective\n\nA file.\n");
  expect(planned.filter(isWarning)).toEqual([]);

  // The server may have been another one meanwhile.
  await server.restart();
  expect(await approve(server, id, { message: words })).toBe(200);
  await server.waitForStatus(id, "finished");
  expect(await readFile(join(server.workspaceDir, "built.txt"), "utf8")).toBe("done\n");
  const added = (await server.events(id)).slice(planned.length);
  // Told at once: the message, the run, and the agent as it is from now on.
  expect(added.slice(0, 5)).toMatchObject([
    { key: "execution_status", value: "idle" },
    {
      kind: "MessageEvent",
      source: "user",
      llm_message: { content: [{ text: expect.stringContaining(words) }] },
    },
    { key: "last_user_message_id" },
    { key: "execution_status", value: "running" },
    {
      key: "agent",
      value: {
        system_prompt_filename: "system_prompt.j2",
        tools: ["terminal", "file_editor", "task_tracker", "glob", "grep"].map((name) => ({ name })),
      },
    },
  ]);
  const tools = added.find((event) => event.kind === "ConversationStateUpdateEvent" && event.key === "tools");
  expect(JSON.stringify(tools)).toContain("TerminalTool");
  expect(JSON.stringify(tools)).not.toContain("PlanningFileEditorTool");
  const again = await server.call("POST", `/api/conversations/${id}/plan/approve`);
  expect([again.status, again.text]).toEqual([409, expect.stringContaining("not_planning")]);
});

test("F26: tools for the work may be named from the start; those that read are there while it is planned", async () => {
  const tools = ["terminal", "read_file", "browser_tool_set", "edit", "absent"].map((name) => ({ name }));
  const { server, id } = await openPlanned({ ...preset, tools });
  await server.waitForStatus(id, "finished");
  const events = await server.events(id);
  const kinds = promptOf(events).tools?.map(({ kind }) => kind) ?? [];
  expect(kinds).toContain("ReadFileTool");
  for (const kind of ["TerminalTool", "EditTool", "BrowserClickTool"]) expect(kinds).not.toContain(kind);
  // Only what no server like this one has is missing.
  expect(events.filter(isWarning)).toMatchObject([{ value: { tools: ["absent"] } }]);
  expect(await approve(server, id)).toBe(200);
  const { agent } = await server.waitForStatus(id, "finished");
  expect(agent.tools?.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
});

test("F26: a plan is not approved while the agent works on it or waits, nor where nobody plans", async () => {
  const { server, id } = await openPlanned(preset, { confirmation_policy: { kind: "AlwaysConfirm" } });
  await server.waitForStatus(id, "waiting_for_confirmation");
  expect(await approve(server, id)).toBe(409);
  const other = await server.createConversation();
  expect(await approve(server, other.id)).toBe(409);
  expect(await approve(server, crypto.randomUUID())).toBe(404);
  expect(await readdir(server.workspaceDir)).toEqual([]);
});

async function approve(server: TestServer, id: string, body?: object): Promise<number> {
  return (await server.call("POST", `/api/conversations/${id}/plan/approve`, body)).status;
}

function promptOf(events: readonly Event[]): Extract<Event, { kind: "SystemPromptEvent" }> {
  return events.find((event) => event.kind === "SystemPromptEvent")!;
}

const isWarning = (event: Event): boolean =>
  event.kind === "ConversationStateUpdateEvent" && event.key === "warning";
