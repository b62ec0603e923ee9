import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  AgentProfilesClient,
  LLMMetadataClient,
  PluginsClient,
  ProfilesClient,
  SettingsClient,
  SkillsClient,
  SubAgentsClient,
  ToolClient,
} from "@openhands/typescript-client/clients";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

let server: TestServer;
let strangerKey = "";
beforeAll(async () => {
  server = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
  await using keys = await server.openKeys();
  strangerKey = (await keys.store.create("bob", "")).key;
});
afterAll(() => server[Symbol.asyncDispose]());

const options = () => ({ host: server.url, apiKey: server.key });
const secret = "canary-key";
const mask = "**********";

describe("the official client, unmodified", () => {
  test("reads and changes settings, MCP servers and secrets", async () => {
    const client = new SettingsClient(options());
    expect((await client.getAgentSchema()).sections.length).toBeGreaterThan(0);
    expect((await client.getConversationSchema()).sections.length).toBeGreaterThan(0);
    const changed = await client.updateSettings({
      agent_settings_diff: { llm: { model: "openai/m", api_key: secret }, enable_sub_agents: true },
      conversation_settings_diff: { max_iterations: 9 },
      misc_settings_diff: { theme: { dark: true } },
    });
    expect(JSON.stringify(changed)).not.toContain(secret);
    expect(await client.getSettings()).toMatchObject({
      agent_settings: { llm: { model: "openai/m", api_key: mask }, enable_sub_agents: true },
      conversation_settings: { max_iterations: 9 },
      misc_settings: { theme: { dark: true } },
      llm_api_key_is_set: true,
      llm_model: "openai/m",
    });
    await client.createMcpServer("docs", { url: "https://mcp.example.org", headers: { A: secret } } as never);
    await expect(client.createMcpServer("docs", { url: "https://x.example" } as never)).rejects.toMatchObject(
      {
        status: 409,
      },
    );
    const patched = await client.patchMcpServer("docs", { timeout: 5 });
    expect(patched.agent_settings).toMatchObject({
      mcp_config: { docs: { timeout: 5, headers: { A: mask } } },
    });
    for (const [enabled, after] of [
      [false, false],
      [null, true],
    ] as const) {
      const switched = await client.patchMcpServer("docs", { enabled });
      const docs = (switched.agent_settings as Record<string, unknown>)["mcp_config"];
      expect(docs).toMatchObject({ docs: { enabled: after, timeout: 5, headers: { A: mask } } });
    }
    const left = await client.deleteMcpServer("docs");
    expect(left.agent_settings).toMatchObject({ mcp_config: {} });
    await expect(client.deleteMcpServer("docs")).rejects.toMatchObject({ status: 404 });

    expect(await client.upsertSecret({ name: "TOKEN", value: secret, description: "d" })).toEqual({
      name: "TOKEN",
      description: "d",
    });
    expect(await client.listSecrets()).toEqual({ secrets: [{ name: "TOKEN", description: "d" }] });
    expect(await client.getSecret("TOKEN")).toBe(secret);
    const stranger = new SettingsClient({ host: server.url, apiKey: strangerKey });
    await expect(stranger.getSecret("TOKEN")).rejects.toMatchObject({ status: 404 });
    expect(await client.deleteSecret("TOKEN")).toEqual({ deleted: true });
    await expect(client.deleteSecret("TOKEN")).rejects.toMatchObject({ status: 404 });
  });

  test("secrets come out only when they are asked for, and only to their owner", async () => {
    const client = new SettingsClient(options());
    const plain = await client.getSettings({ exposeSecrets: "plaintext" });
    expect(plain.agent_settings).toMatchObject({ llm: { api_key: secret } });
    const sealed = await client.getSettings({ exposeSecrets: "encrypted" });
    const token = (sealed.agent_settings as unknown as { llm: { api_key: string } }).llm.api_key;
    expect(token).not.toContain(secret);
    // What was sealed for me is good for me, and for nobody else.
    await client.updateSettings({ agent_settings_diff: { llm: { api_key: "other" } } });
    await client.updateSettings({ agent_settings_diff: { llm: { api_key: token } } });
    expect((await client.getSettings({ exposeSecrets: "plaintext" })).agent_settings).toMatchObject({
      llm: { api_key: secret },
    });
    const stranger = new SettingsClient({ host: server.url, apiKey: strangerKey });
    await expect(
      stranger.updateSettings({ agent_settings_diff: { llm: { api_key: token } } }),
    ).rejects.toMatchObject({ status: 422 });
    expect(JSON.stringify(await stranger.getSettings({ exposeSecrets: "plaintext" }))).not.toContain(secret);
    const refused = await server.call("GET", "/api/settings", undefined, { "X-Expose-Secrets": "all" });
    expect(refused.status).toBe(400);
  });

  test("stores, lists, renames, uses and removes models", async () => {
    const client = new ProfilesClient(options());
    const llm = { model: "openai/scripted", base_url: `${server.model.url}/v1`, api_key: secret };
    await client.saveProfile("fast", { llm, include_secrets: true });
    expect(await client.listProfiles()).toMatchObject({
      profiles: [{ name: "fast", model: llm.model, api_key_set: true, provider_connection_broken: false }],
    });
    expect(await client.getProfile("fast")).toMatchObject({ config: { api_key: null }, api_key_set: true });
    expect(await client.getProfile("fast", { exposeSecrets: "plaintext" })).toMatchObject({ config: llm });
    expect(await client.validateProfile("fast", { llm })).toEqual({ valid: true, error: null });
    const nowhere = { llm: { model: "no-such-model-anywhere" } };
    expect(await client.validateProfile("fast", nowhere)).toMatchObject({ valid: false });
    await client.renameProfile("fast", "quick");
    expect(await client.activateProfile("quick")).toMatchObject({ name: "quick", llm_applied: true });
    const settings = await new SettingsClient(options()).getSettings();
    expect(settings).toMatchObject({ active_profile: "quick", llm_model: llm.model });
    await expect(client.getProfile("fast")).rejects.toMatchObject({ status: 404 });
    await client.deleteProfile("quick");
    await client.deleteProfile("quick");
    expect((await client.listProfiles()).profiles).toEqual([]);
  });

  test("keeps agent profiles and launches a conversation from one", async () => {
    const client = new AgentProfilesClient(options());
    const first = await client.listAgentProfiles();
    expect(first.profiles).toMatchObject([{ name: "default", agent_kind: "openhands", revision: 0 }]);
    expect(first.active_agent_profile_id).toBe(first.profiles[0]!.id);
    const llm = { model: "openai/scripted", base_url: `${server.model.url}/v1`, api_key: secret };
    await new ProfilesClient(options()).saveProfile("quick", { llm });
    await client.saveAgentProfile("reviewer", {
      agent_kind: "openhands",
      llm_profile_ref: "quick",
      system_message_suffix: "Be strict.",
      tool_concurrency_limit: 2,
    });
    await expect(client.saveAgentProfile("x", { surprise: 1 } as never)).rejects.toMatchObject({
      status: 422,
    });
    expect(await client.materializeAgentProfile("reviewer")).toMatchObject({
      valid: true,
      llm_profile_resolved: true,
      resolved_settings: { llm: { model: llm.model, api_key: mask } },
    });
    await expect(new ProfilesClient(options()).deleteProfile("quick")).rejects.toMatchObject({ status: 409 });
    await client.renameAgentProfile("reviewer", "critic");
    const { profile } = await client.getAgentProfile("critic");
    expect(profile).toMatchObject({ name: "critic", revision: 1, llm_profile_ref: "quick" });
    expect(await client.activateAgentProfile(profile.id)).toMatchObject({ agent_settings_applied: false });
    await expect(client.activateAgentProfile("nobody")).rejects.toMatchObject({ status: 404 });

    const { agent: _, ...request } = server.startRequest({ text: "hi" });
    const started = await server.call("POST", "/api/conversations", {
      ...request,
      agent_profile_id: profile.id,
    });
    expect(started.status, started.text).toBe(201);
    expect(started.text).not.toContain(secret);
    expect(started.json).toMatchObject({
      agent: {
        llm: { model: llm.model },
        agent_context: { system_message_suffix: "Be strict." },
        tool_concurrency_limit: 2,
      },
    });
    await server.waitForStatus((started.json as { id: string }).id, "finished");
    await client.deleteAgentProfile("critic");
    expect(await client.listAgentProfiles()).toMatchObject({
      active_agent_profile_id: first.profiles[0]!.id,
    });
  });

  test("asks for providers and models", async () => {
    const client = new LLMMetadataClient(options());
    expect(await client.getProviders()).toContain("anthropic");
    const models = await client.getModels("openai");
    expect(models.length).toBeGreaterThan(10);
    // Bare where the name says who serves it, as clients compare it with what is verified.
    expect(models).toContain("gpt-5.6");
    expect(models).not.toContain("openai/gpt-5.6");
    const verified = await client.getVerifiedModels();
    expect(verified).toMatchObject({
      openai: expect.arrayContaining(["gpt-5.6"]) as string[],
      anthropic: expect.arrayContaining(["claude-opus-5"]) as string[],
    });
    for (const names of Object.values(verified)) expect(names.length).toBeLessThan(20);
    expect(await client.getOpenAISubscriptionStatus()).toMatchObject({ connected: false });
    expect(await client.getOpenAISubscriptionModels()).toContain("gpt-5.5");
  });
});

test("a_profile_needs_its_model, an_agent_profile_needs_its_model: 422 that names it", async () => {
  for (const [path, body, field] of [
    ["/api/profiles/empty", { llm: {} }, "model"],
    ["/api/profiles/empty", { llm: { model: "" } }, "model"],
    ["/api/agent-profiles/empty", { agent_kind: "openhands" }, "llm_profile_ref"],
  ] as const) {
    const refused = await server.call("POST", path, body);
    expect(refused.status, refused.text).toBe(422);
    expect(JSON.stringify(refused.json)).toContain(`"${field}"`);
  }
});

test("clients 13, 14: profiles and sub-agents are as validators of the newest clients want them", async () => {
  const acp = { agent_kind: "acp", acp_server: "claude" };
  expect((await server.call("POST", "/api/agent-profiles/outer", acp)).status).toBe(201);
  const { profile } = (await server.call("GET", "/api/agent-profiles/outer")).json as { profile: object };
  expect(profile).toMatchObject({ ...acp, revision: 0 });
  expect(Object.keys(profile)).not.toEqual(expect.arrayContaining(["skills"]));
  expect(Object.keys(profile)).not.toEqual(expect.arrayContaining(["disabled_skills"]));
  const stray = { agent_kind: "openhands", llm_profile_ref: "default", skills: [] };
  const refused = await server.call("POST", "/api/agent-profiles/stray", stray);
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("skills")]);
  expect((await server.call("POST", "/api/profiles/nothing", {})).json).toMatchObject({
    detail: [{ loc: ["body", "llm"], type: "missing" }],
  });
  const agents = async (body: object) =>
    ((await server.call("POST", "/api/sub-agents", body)).json as { agents: { is_builtin?: boolean }[] })
      .agents;
  expect((await agents({})).length).toBeGreaterThan(0);
  for (const agent of await agents({}))
    expect(Object.keys(agent)).toEqual(
      expect.arrayContaining(["profile_store_dir", "hooks", "mcp_config", "condenser"]),
    );
  expect((await agents({ load_builtin: false })).filter(({ is_builtin: own }) => own === true)).toEqual([]);
  expect((await server.call("GET", "/server_info")).json).toMatchObject({
    runtime_idle_timeout_seconds: null,
  });
});

test("a provider connection lends its address and key to stored models, and stays while one names it", async () => {
  const path = "/api/llm/provider-connections";
  const created = await server.call("POST", path, {
    display_name: "Ours",
    api_key: secret,
    base_url: `${server.model.url}/v1`,
  });
  expect(created.status).toBe(201);
  expect(created.text).not.toContain(secret);
  const { id } = created.json as { id: string };
  const llm = { model: "openai/scripted", provider_connection_id: id };
  expect((await server.call("POST", "/api/profiles/linked", { llm })).status).toBe(201);
  const broken = { llm: { ...llm, provider_connection_id: "nobody" } };
  // It may be stored before its connection is there; nobody can use it until then.
  expect((await server.call("POST", "/api/profiles/linked2", broken)).status).toBe(201);
  expect((await server.call("POST", "/api/profiles/linked2/activate")).json).toMatchObject({
    detail: [{ msg: expect.stringContaining("provider connection") as string }],
  });
  expect((await server.call("DELETE", "/api/profiles/linked2")).status).toBe(200);
  for (const change of [{ display_name: null }, { provider: null }, { api_key: "" }, { api_key: null }])
    expect((await server.call("PATCH", `${path}/${id}`, change)).status).toBe(422);
  expect((await server.call("DELETE", `${path}/${id}`)).status).toBe(409);
  expect((await server.call("PATCH", `${path}/${id}`, { display_name: "Mine" })).json).toMatchObject({
    display_name: "Mine",
    api_key_set: true,
  });
  await server.call("POST", "/api/profiles/linked/activate");
  const exposed = { "X-Expose-Secrets": "plaintext" };
  for (const path of ["/api/settings", "/api/profiles/linked"]) {
    const plain = await server.call("GET", path);
    expect(plain.text).not.toContain(secret);
    expect(plain.text).toContain('"is_subscription":false');
    // get_llm_of_a_profile_with_a_provider_connection: the key and the address are those of the connection.
    const shown = JSON.parse((await server.call("GET", path, undefined, exposed)).text) as {
      config?: object;
      agent_settings?: { llm: object };
    };
    expect(shown.config ?? shown.agent_settings?.llm).toMatchObject({
      api_key: secret,
      base_url: `${server.model.url}/v1`,
    });
  }
  expect((await server.call("GET", "/api/settings")).json).toMatchObject({ llm_api_key_is_set: true });
  // clients 12: a key that was replaced is the settings' own at once, without another activation.
  const rotated = { api_key: "canary-rotated" };
  expect((await server.call("PATCH", `${path}/${id}`, rotated)).status).toBe(200);
  const after = await server.call("GET", "/api/settings", undefined, exposed);
  expect(after.json).toMatchObject({ agent_settings: { llm: rotated } });
  const { agent: _, ...request } = server.startRequest({ text: "hi" });
  const started = await server.call("POST", "/api/conversations", request);
  expect(started.status, started.text).toBe(201);
  await server.waitForStatus((started.json as { id: string }).id, "finished");
  const stranger = { "X-Session-API-Key": strangerKey };
  expect((await server.call("GET", path, undefined, stranger)).json).toEqual([]);
  expect((await server.call("PATCH", `${path}/${id}`, { provider: "x" }, stranger)).status).toBe(404);
});

test("P55: an agent described by settings is the one that is created, and a secret of one's own is found by its path", async () => {
  await server.call("PUT", "/api/settings/secrets", { name: "OWN", value: secret });
  const { agent: _, ...request } = server.startRequest({ text: "hi" });
  const agentSettings = {
    agent_kind: "openhands",
    llm: { model: "openai/scripted", base_url: `${server.model.url}/v1`, api_key: secret },
    tools: [{ name: "terminal" }],
  };
  const own = { kind: "LookupSecret", url: "/api/settings/secrets/OWN" };
  const body = { ...request, agent_settings: agentSettings, secrets: { OWN: own } };
  const started = await server.call("POST", "/api/conversations", body);
  expect(started.status, started.text).toBe(201);
  expect(started.text).not.toContain(secret);
  expect(started.json).toMatchObject({
    agent: { llm: { model: "openai/scripted" }, tools: [{ name: "terminal" }] },
    secret_registry: { secret_sources: { OWN: { kind: "StaticSecret" } } },
  });
  const unknown = { ...own, url: "/api/settings/secrets/NOBODY" };
  const refused = await server.call("POST", "/api/conversations", { ...body, secrets: { A: unknown } });
  expect(refused.status).toBe(422);
});

describe("what a workspace brings", () => {
  const put = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(server.workspaceDir, path)), { recursive: true });
    await writeFile(join(server.workspaceDir, path), text);
  };

  test("skills are listed, installed, switched off and removed", async () => {
    await put("AGENTS.md", "Notes.");
    await put("shared/deploy/SKILL.md", "---\ndescription: How to deploy.\n---\nPush the button.");
    const client = new SkillsClient(options());
    const listed = await client.getSkills({ project_dir: server.workspaceDir });
    expect(listed).toMatchObject({
      skills: [{ name: "agents", type: "repo" }],
      sources: { project: 1, org: 0 },
    });
    expect(await client.syncSkills()).toMatchObject({ status: "success" });
    const source = join(server.workspaceDir, "shared/deploy");
    expect(await client.installSkill({ source })).toMatchObject({ name: "deploy", enabled: true });
    await expect(client.installSkill({ source })).rejects.toMatchObject({ status: 409 });
    await expect(client.installSkill({ source: "git@example.org:x.git" })).rejects.toMatchObject({
      status: 422,
    });
    expect((await client.getSkills({})).skills).toMatchObject([{ name: "deploy", type: "agentskills" }]);
    expect(await client.toggleSkill("deploy", false)).toEqual({ name: "deploy", enabled: false });
    expect((await client.getSkills({})).skills).toEqual([]);
    expect(await client.refreshSkill("deploy")).toMatchObject({ skill: { name: "deploy", enabled: false } });
    const stranger = new SkillsClient({ host: server.url, apiKey: strangerKey });
    expect((await stranger.listInstalledSkills()).skills).toEqual([]);
    await expect(stranger.getInstalledSkill("deploy")).rejects.toMatchObject({ status: 404 });
    await client.uninstallSkill("deploy");
    await expect(client.uninstallSkill("deploy")).rejects.toMatchObject({ status: 404 });
    expect(await client.getMarketplace()).toEqual({ skills: [] });
  });

  test("plugins and helpers are found", async () => {
    await put(".agents/plugins/tools/.plugin/plugin.json", '{"name":"tools","version":"1.0"}');
    await put(".agents/plugins/tools/skills/lint.md", "---\ntriggers: [lint]\n---\nLint it.");
    await put(".agents/agents/reviewer.md", "---\ndescription: Reviews.\ntools: [terminal]\n---\nBe strict.");
    const plugins = new PluginsClient(options());
    const project = { project_dir: server.workspaceDir };
    expect((await plugins.getPlugins(project)).plugins).toMatchObject([
      { name: "tools", version: "1.0", skills: [{ name: "lint" }] },
    ]);
    const source = join(server.workspaceDir, ".agents/plugins/tools");
    expect(await plugins.installPlugin({ source })).toMatchObject({
      name: "tools",
      skills: [{ name: "lint" }],
    });
    expect((await plugins.getPlugins({})).plugins).toMatchObject([{ name: "tools" }]);
    await plugins.uninstallPlugin("tools");
    const { agents } = await new SubAgentsClient(options()).getSubAgents(project);
    expect(agents).toMatchObject([
      { name: "reviewer", tools: ["terminal"], system_prompt: "Be strict.", level: "project" },
      { name: "general-purpose", level: "builtin", is_builtin: true },
      { name: "code-explorer", tools: ["terminal"] },
      { name: "bash-runner", tools: ["terminal"] },
    ]);
  });

  test("hooks of a directory are read in one form; a file that is not valid counts as none", async () => {
    const ask = () => server.call("POST", "/api/hooks", { project_dir: server.workspaceDir });
    expect((await ask()).json).toEqual({ hook_config: null });
    await put(".openhands/hooks.json", '{"PreToolUse":[{"hooks":[{"command":"./guard.sh"}]}]}');
    expect((await ask()).json).toMatchObject({
      hook_config: {
        pre_tool_use: [{ matcher: "*", hooks: [{ command: "./guard.sh", timeout: 60 }] }],
        stop: [],
      },
    });
    await put(".openhands/hooks.json", '{"Before":[]}');
    expect((await ask()).json).toEqual({ hook_config: null });
  });

  test("tools are listed", async () => {
    expect(await new ToolClient(options()).listTools()).toContain("terminal");
  });
});

test("a user has at most 200 secrets, and the document says what one more is", async () => {
  const put = (name: string) =>
    server.call("PUT", "/api/settings/secrets", { name, value: "v" }, { "X-Session-API-Key": strangerKey });
  const stored = await Promise.all(Array.from({ length: 200 }, (_, number) => put(`S${number}`)));
  expect(stored.filter(({ status }) => status === 200)).toHaveLength(200);
  expect(await put("ONE_MORE")).toMatchObject({ status: 409, json: { code: "too_many_secrets" } });
  const document = (await server.call("GET", "/openapi.json")).json as {
    paths: Record<string, { put: { responses: object } }>;
  };
  expect(Object.keys(document.paths["/api/settings/secrets"]!.put.responses)).toContain("409");
});
