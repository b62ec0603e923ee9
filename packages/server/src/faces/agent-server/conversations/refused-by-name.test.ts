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
      404,
      "switch_acp_model",
    ],
    [await create({ agent: acp }), 422, "ACP agents"],
    [await create({ agent_settings: { agent_kind: "acp", acp_command: ["x"] } }), 422, "ACP agent"],
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
