import assert from "node:assert/strict";
import type { ClientWorld } from "../client-world.ts";

const canary = "canary-key";

/** Settings, secrets and MCP servers of a user. */
export async function settings(world: ClientWorld): Promise<void> {
  const client = world.record.watch(new world.client.SettingsClient(world.options));
  assert.ok((await client.getAgentSchema()).sections.length > 0);
  assert.ok((await client.getConversationSchema()).sections.length > 0);
  const llm = { ...world.llm, api_key: canary };
  await client.updateSettings({ agent_settings_diff: { llm } });
  assert.ok(!JSON.stringify(await client.getSettings()).includes(canary));
  assert.ok(JSON.stringify(await client.getSettings({ exposeSecrets: "plaintext" })).includes(canary));
  await client.createMcpServer("docs", { url: "https://mcp.example.org" } as never);
  await client.patchMcpServer("docs", { timeout: 5 });
  await client.deleteMcpServer("docs");
  await client.upsertSecret({ name: "TOKEN", value: canary, description: "d" });
  assert.deepEqual(await client.listSecrets(), { secrets: [{ name: "TOKEN", description: "d" }] });
  assert.equal(await client.getSecret("TOKEN"), canary);
  assert.deepEqual(await client.deleteSecret("TOKEN"), { deleted: true });

  await client.saveProfile("mine", { llm, include_secrets: true });
  assert.ok((await client.listProfiles()).profiles.some(({ name }) => name === "mine"));
  assert.equal((await client.getProfile("mine")).name, "mine");
  await client.renameProfile("mine", "yours");
  await client.deleteProfile("yours");
  client.close();
}

/** Stored models. */
export async function profiles(world: ClientWorld): Promise<void> {
  const client = world.record.watch(new world.client.ProfilesClient(world.options));
  const { llm } = world;
  await client.saveProfile("fast", { llm, include_secrets: true });
  assert.deepEqual(await client.validateProfile("fast", { llm }), { valid: true, error: null });
  assert.ok((await client.listProfiles()).profiles.some(({ name }) => name === "fast"));
  assert.equal((await client.getProfile("fast", { exposeSecrets: "encrypted" })).name, "fast");
  await client.renameProfile("fast", "faster");
  assert.equal((await client.activateProfile("faster")).llm_applied, true);
  await client.deleteProfile("faster");
  client.close();
}

/** Stored agents. */
export async function agentProfiles(world: ClientWorld): Promise<void> {
  const client = world.record.watch(new world.client.AgentProfilesClient(world.options));
  await world.server.call("POST", "/api/profiles/stored", { llm: world.llm });
  await client.saveAgentProfile("reviewer", { agent_kind: "openhands", llm_profile_ref: "stored" } as never);
  assert.equal((await client.materializeAgentProfile("reviewer")).valid, true);
  await client.renameAgentProfile("reviewer", "critic");
  const { profile } = await client.getAgentProfile("critic");
  await client.activateAgentProfile(profile.id);
  assert.equal((await client.listAgentProfiles()).active_agent_profile_id, profile.id);
  await client.deleteAgentProfile("critic");
  client.close();
}

/** Providers and models, and the login of a subscription, which needs a provider. */
export async function models(world: ClientWorld): Promise<void> {
  const client = world.record.watch(new world.client.LLMMetadataClient(world.options));
  assert.ok((await client.getProviders()).includes("anthropic"));
  assert.ok((await client.getModels("openai")).length > 10);
  assert.ok(Object.keys(await client.getVerifiedModels()).includes("openai"));
  assert.ok((await client.getOpenAISubscriptionModels()).includes("gpt-5.5"));
  assert.equal((await client.getOpenAISubscriptionStatus()).connected, false);
  await assert.rejects(client.startOpenAISubscriptionDeviceLogin(), { status: 422 });
  await assert.rejects(client.pollOpenAISubscriptionDeviceLogin("x"), { status: 422 });
  await client.logoutOpenAISubscription();
  client.close();
  const metas = world.record.watch(new world.client.MetaProfilesClient(world.options));
  const profile = {
    classifier_model: "quick",
    classes: [{ description: "Short questions.", model: "quick" }],
  };
  await metas.saveMetaProfile("mine", profile as never);
  assert.equal((await metas.listMetaProfiles()).meta_profiles[0]?.name, "mine");
  assert.equal((await metas.getMetaProfile("mine")).config.classifier_model, "quick");
  assert.equal(((await metas.activateMetaProfile("mine")) as { applied?: boolean }).applied, false);
  await metas.deleteMetaProfile("mine");
  metas.close();
}

/** What only a service with accounts has. */
export async function absentFromMachine(world: ClientWorld): Promise<void> {
  const gone = { status: 404 };
  const shared = world.record.watch(new world.client.SharedClient(world.options));
  await assert.rejects(shared.getSharedConversations(["x"]), gone);
  await assert.rejects(shared.getSharedConversation("x"), gone);
  await assert.rejects(shared.searchSharedEvents({ conversationId: "x" }), gone);
  shared.close();
}
