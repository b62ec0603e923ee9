import { expect, test } from "vitest";
import { startTestServer } from "../../../testing/start-server.ts";

type Server = Awaited<ReturnType<typeof startTestServer>>;

async function openWorld() {
  const server = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
  const llm = { base_url: `${server.model.url}/v1`, api_key: "canary-key" };
  const save = (model: string, more: object = {}) =>
    server.call("POST", "/api/profiles/fast", { llm: { ...llm, model: `openai/${model}`, ...more } });
  const { agent: _, ...request } = server.startRequest({ text: "hi" });
  const start = async (fields: object) =>
    await server.call("POST", "/api/conversations", { ...request, ...fields });
  return { server, save, start, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

async function eventsOf(server: Server, id: string): Promise<readonly Record<string, unknown>[]> {
  const page = await server.call("GET", `/api/conversations/${id}/events/search?limit=100`);
  return (page.json as { items: Record<string, unknown>[] }).items;
}

test("P34: a conversation names a revision of a model; its log and its runs say which one they use", async () => {
  await using world = await openWorld();
  const { server, save, start } = world;
  await save("scripted", { temperature: 0 });
  await save("scripted", { temperature: 1 });
  const created = await start({ profile_name: "fast", profile_revision: 1 });
  expect(created.status, created.text).toBe(201);
  expect(created.text).not.toContain("canary");
  const used = {
    settings_version: 2,
    agent_profile: null,
    model_profile: { name: "fast", revision: 1, is_pinned: true },
  };
  expect(created.json).toMatchObject({ agent: { llm: { temperature: 0 } }, settings_used: used });
  const { id } = created.json as { id: string };
  await server.waitForStatus(id, "finished");
  const events = await eventsOf(server, id);
  const updates = events.filter(({ key }) => key === "settings_used");
  expect(updates).toMatchObject([{ kind: "ConversationStateUpdateEvent", value: used }]);
});

test("a switch to a profile names its newest revision, or the one of the request, from the next call on", async () => {
  await using world = await openWorld();
  const { server, save, start } = world;
  await save("scripted", { temperature: 0 });
  await save("scripted", { temperature: 1 });
  const { id } = (await start({ profile_name: "fast" })).json as { id: string };
  await server.waitForStatus(id, "finished");
  const infoOf = async () =>
    (await server.call("GET", `/api/conversations/${id}`)).json as {
      agent: { llm: { temperature: number } };
      settings_used: { model_profile: unknown };
    };
  expect((await infoOf()).settings_used.model_profile).toMatchObject({ revision: 2, is_pinned: false });
  const switched = await server.call("POST", `/api/conversations/${id}/switch_profile`, {
    profile_name: "fast",
    profile_revision: 1,
  });
  expect(switched.status, switched.text).toBe(200);
  const after = await infoOf();
  expect(after.agent.llm.temperature).toBe(0);
  expect(after.settings_used.model_profile).toMatchObject({ revision: 1, is_pinned: true });
  const list = await server.call("GET", "/api/profiles/fast/revisions");
  expect(list.json).toMatchObject({
    items: [
      { number: 2, is_pinned: false },
      { number: 1, is_pinned: true },
    ],
  });
  await server.call("POST", `/api/conversations/${id}/switch_llm`, {
    llm: { model: "openai/scripted", base_url: `${server.model.url}/v1`, api_key: "k" },
  });
  expect((await infoOf()).settings_used.model_profile).toBeNull();
  expect(
    (await eventsOf(server, id)).filter(({ key }) => key === "settings_used").map(({ value }) => value),
  ).toMatchObject([
    { model_profile: { revision: 2 } },
    { model_profile: { revision: 1 } },
    { model_profile: null },
  ]);
  const unpinned = await server.call("GET", "/api/profiles/fast/revisions/1");
  expect(unpinned.json).toMatchObject({ is_pinned: false });
});

test("P34: a chat of the OpenAI gateway says which revision of its model it uses", async () => {
  await using world = await openWorld();
  const { server, save } = world;
  await save("scripted");
  const answer = await server.call("POST", "/v1/responses", { model: "openhands_fast", input: "hi" });
  const { conversation } = answer.json as { conversation: { id: string } };
  expect((await server.call("GET", `/api/conversations/${conversation.id}`)).json).toMatchObject({
    settings_used: { model_profile: { name: "fast", revision: 1, is_pinned: false } },
  });
});

test("a conversation that is there already keeps the revision that it names", async () => {
  await using world = await openWorld();
  const { server, save, start } = world;
  await save("scripted", { temperature: 0 });
  await save("scripted", { temperature: 1 });
  const conversation_id = "0198c0de-1111-4000-8000-000000000001";
  for (const profile_revision of [1, 2])
    expect(await start({ conversation_id, profile_name: "fast", profile_revision })).toMatchObject({
      json: { settings_used: { model_profile: { revision: 1 } } },
    });
  expect((await server.call("GET", "/api/profiles/fast/revisions")).json).toMatchObject({
    items: [
      { number: 2, is_pinned: false },
      { number: 1, is_pinned: true },
    ],
  });
});

test("an agent profile is used at a revision, with the newest revision of its model", async () => {
  await using world = await openWorld();
  const { server, save, start } = world;
  await save("scripted");
  const saveAgent = (suffix: string) =>
    server.call("POST", "/api/agent-profiles/coder", {
      agent_kind: "openhands",
      llm_profile_ref: "fast",
      system_message_suffix: suffix,
    });
  await saveAgent("FIRST");
  await saveAgent("SECOND");
  const { profile } = (await server.call("GET", "/api/agent-profiles/coder")).json as {
    profile: { id: string };
  };
  const created = await start({ agent_profile_id: profile.id, agent_profile_revision: 0 });
  expect(created.status, created.text).toBe(201);
  expect(created.json).toMatchObject({
    agent: { agent_context: { system_message_suffix: "FIRST" } },
    settings_used: {
      agent_profile: { name: "coder", revision: 0, is_pinned: true, id: profile.id },
      model_profile: { name: "fast", revision: 1, is_pinned: false },
    },
  });
  const newest = await start({ agent_profile_id: profile.id });
  expect(newest.json).toMatchObject({ settings_used: { agent_profile: { revision: 1, is_pinned: false } } });
});

test("routes answer by name, and mistakes are named", async () => {
  await using world = await openWorld();
  const { server, save, start } = world;
  await save("one");
  await save("two");
  const path = "/api/profiles/fast/revisions";
  expect((await server.call("GET", `${path}/compare?from=1&to=2`)).json).toMatchObject({
    from: 1,
    to: 2,
    differences: [{ path: ["model"], from: "openai/one", to: "openai/two" }],
  });
  expect((await server.call("POST", `${path}/1/restore`)).json).toMatchObject({
    number: 3,
    restored_from: 1,
  });
  expect((await server.call("GET", `${path}/9`)).status).toBe(404);
  expect((await server.call("GET", `${path}/x`)).status).toBe(422);
  expect((await server.call("GET", "/api/profiles/none/revisions")).status).toBe(404);
  expect((await server.call("GET", `${path}?limit=1`)).json).toMatchObject({ next_page_id: "3" });
  const wrong = [
    { fields: { profile_revision: 1 }, loc: "profile_revision" },
    { fields: { agent_profile_revision: 1 }, loc: "agent_profile_revision" },
    { fields: { profile_name: "none" }, loc: "profile_name" },
    { fields: { profile_name: "fast", agent: server.startRequest().agent }, loc: "profile_name" },
    { fields: { profile_name: "fast", profile_revision: -1 }, loc: "profile_revision" },
    { fields: { profile_name: "fast", profile_revision: 99 }, loc: "profile_revision" },
  ];
  for (const { fields, loc } of wrong) {
    const refused = await start(fields);
    expect(refused.status, loc).toBe(422);
    expect(refused.text).toContain(loc);
  }
});

test("a deleted conversation names no revision any more", async () => {
  await using world = await openWorld();
  const { server, save, start } = world;
  await save("scripted");
  const { id } = (await start({ profile_name: "fast", profile_revision: 1 })).json as { id: string };
  await server.waitForStatus(id, "finished");
  const isPinned = async () =>
    ((await server.call("GET", "/api/profiles/fast/revisions/1")).json as { is_pinned: boolean }).is_pinned;
  expect(await isPinned()).toBe(true);
  await server.call("DELETE", `/api/conversations/${id}`);
  expect(await isPinned()).toBe(false);
});

test("Revisions: what the settings page saves, meta profiles and connections are listed, compared and restored like models", async () => {
  await using world = await openWorld();
  const { server } = world;
  const ask = async <T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: object,
  ): Promise<T> => {
    const reply = await server.call(method, path, body);
    expect(reply.status, `${path}: ${reply.text}`).toBeLessThan(300);
    expect(reply.text).not.toContain("canary");
    return reply.json as T;
  };
  type Page = { items: { number: number; change: string; created_by: { user_id: string } | null }[] };
  const numbers = async (path: string): Promise<number[]> =>
    (await ask<Page>("GET", `${path}/revisions`)).items.map((item) => item.number);

  expect((await server.call("GET", "/api/settings/revisions")).status).toBe(404);
  await ask("POST", "/api/settings", { language: "de", search_api_key: "canary-1", llm_model: "openai/one" });
  await ask("POST", "/api/v1/settings", { language: "fr", search_api_key: "canary-2" });
  expect(await numbers("/api/settings")).toEqual([3, 2, 1]);
  const { items } = await ask<Page>("GET", "/api/settings/revisions?limit=1");
  expect(items).toMatchObject([{ number: 3, change: "saved", created_by: { user_id: "local" } }]);
  expect(await ask("GET", "/api/settings/revisions/compare?from=2&to=3")).toMatchObject({
    differences: [
      { path: ["language"], change: "changed", from: "de", to: "fr" },
      { path: ["search_api_key"], change: "changed", is_secret: true },
    ],
  });
  expect(await ask("POST", "/api/settings/revisions/2/restore")).toMatchObject({
    number: 4,
    change: "restored",
    restored_from: 2,
    is_current: true,
  });
  expect(await ask("GET", "/api/settings")).toMatchObject({ language: "de" });
  expect(await ask("GET", "/api/settings/revisions/4")).toMatchObject({
    content: { language: "de", search_api_key: "**********", llm: { model: "openai/one" } },
  });

  const meta = (description: string) => ({ classifier_model: "a", classes: [{ description, model: "b" }] });
  const savedMeta = await server.call("POST", "/api/meta-profiles/routes", meta("first"));
  expect(savedMeta.status, savedMeta.text).toBeLessThan(300);
  await ask("POST", "/api/meta-profiles/routes", meta("second"));
  expect(await numbers("/api/meta-profiles/routes")).toEqual([2, 1]);
  await ask("POST", "/api/meta-profiles/routes/revisions/1/restore");
  expect(await ask("GET", "/api/meta-profiles/routes")).toMatchObject({ config: meta("first") });

  const connection = { display_name: "Mine", provider: "openai", api_key: "canary-3" };
  const { id } = await ask<{ id: string }>("POST", "/api/llm/provider-connections", connection);
  const path = `/api/llm/provider-connections/${id}`;
  await ask("PATCH", path, { display_name: "Ours", api_key: "canary-4" });
  expect(await ask("GET", `${path}/revisions/compare?from=1&to=2`)).toMatchObject({
    differences: [{ path: ["api_key"], is_secret: true }, { path: ["display_name"] }],
  });
  await ask("POST", `${path}/revisions/1/restore`);
  const shown = await ask<{ id: string }[]>("GET", "/api/llm/provider-connections");
  expect(shown).toMatchObject([{ id, display_name: "Mine" }]);
  await ask("DELETE", path);
  expect((await server.call("GET", `${path}/revisions`)).status).toBe(404);
});
