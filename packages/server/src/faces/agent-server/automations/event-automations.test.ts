import type { AutomationRun, CreatedAutomation } from "@convoke/protocol";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

const answer = { script: { turns: [{ text: "Done." }], loop: true } };

async function create(server: TestServer, name: string, trigger: object): Promise<string> {
  const { status, text, json } = await server.call("POST", "/api/automations", {
    name,
    trigger: { kind: "event", statuses: ["finished"], ...trigger },
    prompt: "{{payload}}",
    conversation: { working_dir: server.workspaceDir },
  });
  expect(status, text).toBe(201);
  return (json as CreatedAutomation).id;
}

async function runsOf(server: TestServer, id: string): Promise<AutomationRun[]> {
  const { json } = await server.call("GET", `/api/automations/${id}/runs`);
  return (json as { items: AutomationRun[] }).items;
}

test("the end of a conversation starts an automation once, and the end of that one the next, but no loop", async () => {
  await using server = await startTestServer(answer);
  await server.call("POST", "/api/settings", {
    llm_model: "openai/scripted",
    llm_base_url: `${server.model.url}/v1`,
    llm_api_key: "canary-key",
  });
  const summary = await create(server, "summary", { tag: "team:search" });
  const report = await create(server, "report", { automation_id: summary });
  // Reacts to everything that a person has started: not to the conversations of the other two.
  const all = await create(server, "all", {});
  const { json } = await server.call("POST", "/api/conversations", {
    agent: { llm: { model: "openai/scripted", base_url: `${server.model.url}/v1`, api_key: "any" } },
    workspace: { kind: "LocalWorkspace", working_dir: server.workspaceDir },
    tags: { team: "search" },
    initial_message: { role: "user", content: [{ type: "text", text: "Go." }], run: true },
  });
  const { id } = json as { id: string };
  await expect.poll(async () => (await runsOf(server, report))[0]?.state).toBe("finished");
  await expect.poll(async () => (await runsOf(server, all))[0]?.state).toBe("finished");
  const [first, ...more] = await runsOf(server, summary);
  expect(more).toEqual([]);
  expect(first).toMatchObject({ origin: "event", state: "finished" });
  const { json: read } = await server.call("GET", `/api/conversations/${first!.conversation_id}`);
  expect(read).toMatchObject({ tags: { automation: summary } });
  const events = JSON.stringify(await server.events(first!.conversation_id!));
  expect(events).toContain(id);
  expect(await runsOf(server, report)).toHaveLength(1);
  expect(await runsOf(server, all)).toHaveLength(1);
});
