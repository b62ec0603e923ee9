import { expect, test } from "vitest";
import { startTestServer } from "../../../testing/start-server.ts";

test("clients: what comes with a later version is refused by its name, with a way out", async () => {
  await using server = await startTestServer();
  const { id } = await server.createConversation();
  const { agent, ...request } = server.startRequest();
  const acp = { kind: "ACPAgent", acp_command: ["x"] };
  const create = (more: object) => server.call("POST", "/api/conversations", { ...request, ...more });
  const replies = [
    [
      await server.call("POST", `/api/conversations/${id}/load_plugin`, { plugin_ref: "a" }),
      404,
      "No plugin called a is installed",
    ],
    [
      await server.call("POST", `/api/conversations/${id}/switch_acp_model`, { model: "a" }),
      400,
      "switch_llm",
    ],
    [await create({ agent: { kind: "ACPAgent", acp_command: [] } }), 422, "acp_command"],
    [
      await create({ agent: { kind: "ACPAgent", acp_command: [], acp_server: "custom" } }),
      422,
      "acp_command",
    ],
    [await create({ agent: { ...acp, acp_file_secrets: [{ secret_name: "A" }] } }), 422, "acp_file_secrets"],
    [await create({ agent: { ...acp, acp_isolate_data_dir: true } }), 422, "acp_isolate_data_dir"],
    [await create({ agent: acp, response_schema: { type: "object" } }), 422, "response_schema"],
    [await create({ agent: acp, agent_type: "plan" }), 422, "agent_type"],
    [await create({ agent: acp, client_tools: [{ name: "ask", description: "Ask" }] }), 422, "client_tools"],
    [await create({ agent, plugins: [{ source: "github:a/b" }] }), 422, "Name a commit in full"],
    [
      await create({ agent, plugins: [{ source: "https://h/p.git", ref: "v1" }] }),
      422,
      "Name a commit in full",
    ],
    [await create({ agent, plugins: [{ source: "git@h:a/p.git" }] }), 422, "over https only"],
  ] as const;
  for (const [reply, status, words] of replies) {
    expect(reply.status, reply.text).toBe(status);
    expect(reply.text).toContain(words);
  }
  const elsewhere = await server.call("POST", `/api/conversations/${id}/nothing`, {});
  expect(elsewhere.json).toMatchObject({ detail: "Not Found" });
});
