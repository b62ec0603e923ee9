import assert from "node:assert/strict";
import type { ClientWorld } from "../client-world.ts";

type Cloud = InstanceType<ClientWorld["client"]["CloudClient"]>;

function openCloud(world: ClientWorld): Cloud {
  const { CloudClient } = world.client;
  return world.record.watch(new CloudClient({ host: world.server.url, apiKey: world.server.key }));
}

/** Settings, models and secrets on the V1 face. */
export async function cloudSettings(world: ClientWorld): Promise<void> {
  const cloud = openCloud(world);
  assert.ok(await cloud.request({ method: "GET", path: "/api/v1/users/me" }));
  await cloud.saveSettings({ agent_settings_diff: { llm: world.llm } });
  assert.ok(await cloud.getSettings());
  const derived = await cloud.getSettingsWithDerivedFields();
  assert.equal((derived.agent_settings as { llm: { model: string } }).llm.model, world.llm.model);
  assert.ok(await cloud.getSettingsSchema());
  assert.ok(await cloud.getConversationSettingsSchema());
  await cloud.saveProfile("cloud", { llm: world.llm, include_secrets: true });
  assert.match(JSON.stringify(await cloud.listProfiles()), /"cloud"/);
  assert.equal((await cloud.getProfile("cloud")).name, "cloud");
  await cloud.renameProfile("cloud", "clouded");
  assert.equal((await cloud.activateProfile("clouded")).name, "clouded");
  await cloud.deleteProfile("clouded");
  await cloud.createSecret("CLOUD", "canary", "d");
  await cloud.updateSecret("CLOUD", "CLOUDED", "e");
  assert.ok((await cloud.listSecrets()).some(({ name }) => name === "CLOUDED"));
  await cloud.deleteSecret("CLOUDED");
}

/** Conversations in sandboxes on the V1 face. */
export async function cloudConversations(world: ClientWorld): Promise<void> {
  const cloud = openCloud(world);
  await cloud.saveSettings({ agent_settings_diff: { llm: world.llm } });
  const task = await cloud.createConversation({
    initial_message: { role: "user", content: [{ type: "text", text: "Please run" }] },
  });
  await world.until("the conversation to start", async () => {
    const found = await cloud.getConversationStartTask(task.id);
    assert.notEqual(found?.status, "ERROR", JSON.stringify(found));
    return found?.status === "READY";
  });
  const id = (await cloud.getConversationStartTask(task.id))!.app_conversation_id!;
  await world.until("the end of the run", async () => {
    const [found] = (await cloud.getConversations([id])) as ({ execution_status?: string } | null)[];
    return found?.execution_status === "finished";
  });
  const page = await cloud.searchConversations(5);
  const mine = page.items.find((found) => found.id === id) as { sandbox_id: string } | undefined;
  assert.ok(mine !== undefined);
  assert.ok((await cloud.downloadConversation(id)).size > 0);
  assert.equal(JSON.parse(await cloud.readConversationFile(id, "nothing")), "");
  await assert.rejects(cloud.switchConversationProfile(id, "quick"), { status: 404 });
  await assert.rejects(cloud.switchConversationAcpModel(id, "other"), { status: 400 });
  await cloud.updateConversationPublicFlag(id, false);
  await cloud.pauseSandbox(mine.sandbox_id);
  await cloud.resumeSandbox(mine.sandbox_id);
  assert.equal((await cloud.getSandboxes([mine.sandbox_id])).length, 1);
  await cloud.deleteConversation(id);
  cloud.close();
}

/** What belongs to the hosted service: accounts, repositories of providers, automations, its catalogues. */
export async function hostedOnly(world: ClientWorld): Promise<void> {
  const cloud = openCloud(world);
  const gone = { status: 404 };
  const provider = { provider: "github" };
  for (const attempt of [
    () => cloud.getOrganizations(),
    () => cloud.getOrganizationMe("x"),
    () => cloud.getCurrentApiKey(),
    () => cloud.listSkills(),
    () => cloud.searchRepositories(provider),
    () => cloud.getInstallations(provider),
    () => cloud.getRepositoryBranches({ ...provider, repository: "a/b" }),
    () => cloud.getSuggestedTasks(),
    () => cloud.searchModels({}),
    () => cloud.searchProviders({}),
    () => cloud.listAutomations(),
    () => cloud.getAutomation("x"),
    () => cloud.updateAutomation("x", {}),
    () => cloud.deleteAutomation("x"),
    () => cloud.dispatchAutomation("x"),
    () => cloud.listAutomationRuns("x"),
    () => cloud.downloadAutomationTarball("x"),
    () => cloud.getAutomationHealth(),
  ]) {
    await assert.rejects(attempt, gone, attempt.toString());
  }
  await assert.rejects(cloud.startDeviceFlow(), { name: "DeviceFlowError" });
  await assert.rejects(cloud.pollForToken("x", { interval: 1 }), { name: "DeviceFlowError" });
}
