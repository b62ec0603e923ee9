import { expect, test, vi } from "vitest";
import type { NewConversation } from "../../../journal/journal.ts";
import { SettingsStore } from "../../../settings/settings-store.ts";
import { startTestServer } from "../../../testing/start-server.ts";

test("P34: a new conversation begins with the settings of its user, an existing one keeps its own", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
  const request = server.startRequest({ text: "hi" });
  const { agent: _, ...withoutAgent } = request;
  expect((await server.call("POST", "/api/conversations", withoutAgent)).status).toBe(422);
  const before = await server.createConversation();
  const stored = await server.call("POST", "/api/settings", {
    llm_model: "openai/scripted",
    llm_base_url: `${server.model.url}/v1`,
    llm_api_key: "canary-key",
    max_iterations: 7,
    confirmation_mode: true,
  });
  expect(stored.json).toMatchObject({ applies_from: "new conversations", version: 1 });
  const created = await server.call("POST", "/api/conversations", withoutAgent);
  expect(created.status, created.text).toBe(201);
  expect(created.text).not.toContain("canary");
  expect(created.json).toMatchObject({
    agent: { llm: { model: "openai/scripted", api_key: null }, tools: [{ name: "terminal" }] },
    max_iterations: 7,
    confirmation_policy: { kind: "AlwaysConfirm" },
  });
  const { id } = created.json as { id: string };
  await server.waitForStatus(id, "finished");
  expect(await server.client.getConversation(before.id)).toMatchObject({
    max_iterations: 500,
    confirmation_policy: { kind: "NeverConfirm" },
  });
});

test("an agent made of settings has sub-agents where they are switched on", async () => {
  await using server = await startTestServer();
  const { agent: _, ...withoutAgent } = server.startRequest();
  const llm = { model: "openai/scripted", base_url: `${server.model.url}/v1`, api_key: "llm-key" };
  const toolsWith = async (enabled: boolean): Promise<unknown> => {
    const agent_settings = { llm, enable_sub_agents: enabled };
    const created = await server.call("POST", "/api/conversations", { ...withoutAgent, agent_settings });
    return (created.json as { agent: { tools: { name: string }[] } }).agent.tools.map(({ name }) => name);
  };
  expect(await toolsWith(true)).toEqual(["terminal", "task_tool_set"]);
  expect(await toolsWith(false)).toEqual(["terminal"]);
});

test("P34: a creation reads the settings once, and names the version that it was made with", async () => {
  const rows: NewConversation[] = [];
  await using server = await startTestServer({
    wrapJournal: (journal) => {
      const create = journal.createConversation.bind(journal);
      vi.spyOn(journal, "createConversation").mockImplementation((row) => {
        rows.push(row);
        return create(row);
      });
      return journal;
    },
  });
  await server.call("POST", "/api/settings", { max_iterations: 7 });
  using loads = vi.spyOn(SettingsStore.prototype, "load");
  await server.createConversation();
  expect(loads).toHaveBeenCalledOnce();
  expect(rows.map(({ config }) => JSON.parse(config) as unknown)).toMatchObject([{ settings_version: 1 }]);
});
