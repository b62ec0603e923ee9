import { expect, test } from "vitest";
import { ConvokeClient } from "../convoke-client.ts";
import { acpModelsOf } from "./acp-models.ts";
import { actOnCommand } from "./act-on-command.ts";
import { suggestFor } from "./suggest-for.ts";

const models = [{ model_id: "small", name: "Small" }, { model_id: "large" }];
const other = { agent: { kind: "ACPAgent", acp_command: ["agent"], acp_model: "large", llm: {} } };

/** A server that has this conversation, and an agent that tells `models` when it is started. */
function open(info: object) {
  const asked: unknown[] = [];
  const client = new ConvokeClient({
    baseUrl: "http://server",
    fetch: async (url, { method, body } = {}) => {
      const path = new URL(url as string).pathname.replace("/api/", "");
      if (method !== "GET") asked.push([path, JSON.parse(body as string)]);
      if (path === "acp/models") return Response.json({ available_models: models, error: null });
      if (path === "profiles") return Response.json({ profiles: [{ name: "fast", model: "m" }] });
      return Response.json(info);
    },
  });
  return { client, asked };
}

async function suggested(info: object): Promise<readonly string[]> {
  const { client } = open(info);
  const suggest = suggestFor(client, {
    conversationId: "c",
    folder: "/w",
    descriptions: {} as never,
    onFailure: () => {},
  });
  const found = await suggest({ kind: "model", query: "", from: 0, to: 0 }, new AbortController().signal);
  return found.map(({ insert }) => insert);
}

test("the models of another agent are those of the conversation, or it is started and asked", async () => {
  const known = { ...other, current_model_id: "small", available_models: models };
  const started = open(known);
  expect(await acpModelsOf(started.client, "c", true)).toEqual({ current: "small", models });
  expect(started.asked).toEqual([]);
  const fresh = open(other);
  expect(await acpModelsOf(fresh.client, "c", false)).toEqual({ current: null, models: [] });
  expect(fresh.asked).toEqual([]);
  expect(await acpModelsOf(fresh.client, "c", true)).toEqual({ current: "large", models });
  expect(fresh.asked).toEqual([["acp/models", { agent_settings: { acp_command: ["agent"] } }]]);
  expect(await acpModelsOf(open({ agent: { kind: "Agent" } }).client, "c", true)).toBeNull();
});

test("/model offers and chooses models of the agent that works", async () => {
  expect(await suggested(other)).toEqual(["small", "large"]);
  expect(await suggested({ agent: { kind: "Agent" } })).toEqual(["fast"]);
  const order = { name: "model", text: "large" } as const;
  const acp = open(other);
  await actOnCommand(acp.client, "c", order, {});
  expect(acp.asked).toEqual([["conversations/c/switch_acp_model", { model: "large" }]]);
  const own = open({ agent: { kind: "Agent" } });
  await actOnCommand(own.client, "c", order, {});
  expect(own.asked).toEqual([["conversations/c/switch_profile", { profile_name: "large" }]]);
});
