import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";
import type { ConversationConfig } from "../../engine/conversation-config.ts";
import { resumeOrSetAside } from "../../directory/sequential-recovery.ts";
import type { EventDraft } from "../../events/event-draft.ts";
import { silentLogger } from "../../lib/logger.ts";
import { until } from "../../testing/until.ts";
import { ChatRuns, maxChatRuns } from "./chat-runs.ts";

const chats = "/v1/chat/completions";
const ask = (model: string) => ({ model, messages: [{ role: "user", content: "go" }] });

async function storeModel(server: TestServer, name: string, llm: object): Promise<void> {
  const path = `/api/v1/settings/profiles/${name}`;
  const saved = await server.call("POST", path, { llm: { num_retries: 0, ...llm }, include_secrets: true });
  expect(saved.status, saved.text).toBeLessThan(300);
}

/** A profile whose model is the server itself. */
const itself = (server: TestServer, name: string, more: object = {}) =>
  storeModel(server, name, {
    model: `openai/openhands_${name}`,
    base_url: `${server.url}/v1`,
    api_key: server.key,
    ...more,
  });

async function countConversations(server: TestServer): Promise<number> {
  const { json } = await server.call("GET", "/api/conversations/count");
  return json as number;
}

test("hardening 1: a conversation whose model is itself ends after three more, and says why; others are served meanwhile", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "Fine." }], loop: true } });
  await itself(server, "self");
  await storeModel(server, "other", {
    model: "openai/scripted",
    base_url: `${server.model.url}/v1`,
    api_key: "k",
  });
  const before = process.cpuUsage();
  const looping = server.call("POST", chats, ask("openhands_self"));
  const other = await server.call("POST", chats, ask("openhands_other"));
  expect(other.status, other.text).toBe(200);
  const answer = await looping;
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.text).toContain("base_url is not this server");
  expect(await countConversations(server)).toBe(5);
  expect(process.cpuUsage(before).user).toBeLessThan(10_000_000);
});

test("hardening 1: headers of a profile change neither the depth nor the conversation that is asked", async () => {
  await using server = await startTestServer({ script: { turns: [] } });
  await itself(server, "self", { extra_headers: { "X-Convoke-Call-Depth": "0" } });
  expect((await server.call("POST", chats, ask("openhands_self"))).text).toContain(
    "base_url is not this server",
  );
  expect(await countConversations(server)).toBe(4);
  const { id } = await server.createConversation();
  await itself(server, "back", { extra_headers: { "X-OpenHands-ServerConversation-ID": id } });
  expect((await server.call("POST", chats, ask("openhands_back"))).text).toContain("back to an earlier one");
});

test("hardening 1: a conversation that is another one's model is used as usual, and its own model is told the depth", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "Fine." }], loop: true } });
  await storeModel(server, "inner", {
    model: "openai/scripted",
    base_url: `${server.model.url}/v1`,
    api_key: "k",
  });
  await storeModel(server, "outer", {
    model: "openai/openhands_inner",
    base_url: `${server.url}/v1`,
    api_key: server.key,
  });
  const answer = await server.call("POST", chats, ask("openhands_outer"));
  expect(answer.json).toMatchObject({ choices: [{ message: { content: "Fine." } }] });
  expect(server.model.requests[0]!.headers["x-convoke-call-depth"]).toBe("2");
});

test("hardening 1, P2: a restart resumes the calling conversation, and not those that it called", async () => {
  const turns = [{ hang: true as const }, { text: "Fine." }];
  await using server = await startTestServer({ script: { turns, select: "in_order" } });
  await storeModel(server, "inner", {
    model: "openai/scripted",
    base_url: `${server.model.url}/v1`,
    api_key: "k",
  });
  await storeModel(server, "outer", {
    model: "openai/openhands_inner",
    base_url: `${server.url}/v1`,
    api_key: server.key,
  });
  const cut = server.call("POST", chats, ask("openhands_outer")).catch(() => null);
  await until(() => server.model.requests.length === 1);
  await server.restart();
  await cut;
  const count = async (status: string): Promise<unknown> =>
    (await server.call("GET", `/api/conversations/count?status=${status}`)).json;
  await until(async () => (await count("finished")) === 2);
  expect(await countConversations(server)).toBe(3);
  expect(await count("running")).toBe(0);
});

test("hardening 1, P2: after a kill a conversation that was asked by another is settled, and its run not resumed", async () => {
  for (const callDepth of [undefined, 1]) {
    const done: string[] = [];
    const config = (callDepth === undefined ? {} : { call_depth: callDepth }) as ConversationConfig;
    const conversation = {
      configuration: { config },
      resume: async () => void done.push("resume"),
      setAside: async (drafts: readonly EventDraft[]) => void done.push(JSON.stringify(drafts)),
    };
    const standstills = { isSetAside: () => false, forget: async () => {} };
    await resumeOrSetAside(conversation, { id: "a", standstills, logger: silentLogger });
    expect(done.at(-1)).toBe("resume");
    expect(done.some((text) => text.includes("AskerGone"))).toBe(callDepth === 1);
  }
});

test("hardening 1: chats that are answered at once are bounded per user", async () => {
  const atWork = new Set<number>();
  const runs = new ChatRuns<number>((run) => atWork.has(run));
  const begin = (user: string, run: number) =>
    runs.begin(user, run, async () => {
      atWork.add(run);
    });
  for (let run = 0; run < maxChatRuns; run++) await begin("ann", run);
  await expect(begin("ann", 1_000)).rejects.toMatchObject({ code: "too_many_runs" });
  await begin("ann", 3);
  await begin("bob", 2_000);
  atWork.delete(5);
  await begin("ann", 1_000);
});
