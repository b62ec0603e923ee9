import { startMcpHttpServer } from "../../../packages/server/src/testing/mcp/http-server.ts";
import { startOAuthMcpServer } from "../../../packages/server/src/testing/mcp/oauth-server.ts";
import assert from "node:assert/strict";
import { dirname } from "node:path";
import type { ClientWorld } from "../client-world.ts";

/** Skills of a project, and installed ones. */
export async function skills(world: ClientWorld): Promise<void> {
  const client = world.record.watch(new world.client.SkillsClient(world.options));
  await world.write("AGENTS.md", "Notes.");
  const file = await world.write(
    "shared/deploy/SKILL.md",
    "---\nname: deploy\ndescription: How to deploy.\n---\nPush the button.",
  );
  const listed = await client.getSkills({ project_dir: world.folder });
  assert.ok(listed.skills.some(({ name }) => name === "agents"));
  assert.equal((await client.syncSkills()).status, "success");
  await client.installSkill({ source: dirname(file) });
  assert.equal((await client.getInstalledSkill("deploy")).name, "deploy");
  assert.equal((await client.listInstalledSkills()).skills.length, 1);
  assert.deepEqual(await client.toggleSkill("deploy", false), { name: "deploy", enabled: false });
  await client.refreshSkill("deploy");
  await client.uninstallSkill("deploy");
  assert.deepEqual(await client.getMarketplace(), { skills: [] });
  client.close();
}

/** Plugins of a project, and installed ones. */
export async function plugins(world: ClientWorld): Promise<void> {
  const client = world.record.watch(new world.client.PluginsClient(world.options));
  const file = await world.write(
    ".agents/plugins/tools/.plugin/plugin.json",
    '{"name":"tools","version":"1.0"}',
  );
  const found = await client.getPlugins({ project_dir: world.folder });
  assert.ok(found.plugins.some(({ name }) => name === "tools"));
  await client.installPlugin({ source: dirname(dirname(file)) });
  assert.equal((await client.getInstalledPlugin("tools")).name, "tools");
  assert.equal((await client.listInstalledPlugins()).plugins.length, 1);
  await client.setPluginEnabled("tools", false);
  await client.refreshPlugin("tools");
  await client.uninstallPlugin("tools");
  assert.ok(await client.getPluginsMarketplace());
  client.close();
}

/** Hooks and sub-agents of a project. */
export async function hooksAndSubAgents(world: ClientWorld): Promise<void> {
  const hooks = world.record.watch(new world.client.HooksClient(world.options));
  await world.write(".openhands/hooks.json", '{"PreToolUse":[{"hooks":[{"command":"true"}]}]}');
  assert.ok((await hooks.loadHooks({ project_dir: world.folder })).hook_config);
  hooks.close();
  const agents = world.record.watch(new world.client.SubAgentsClient(world.options));
  await world.write(".agents/agents/reviewer.md", "---\ndescription: Reviews.\n---\nBe strict.");
  const found = await agents.getSubAgents({ project_dir: world.folder });
  assert.ok(found.agents.some(({ name }) => name === "reviewer"));
  agents.close();
}

/** An MCP server is tried; a person logs in to another one. */
export async function mcp(world: ClientWorld): Promise<void> {
  const client = world.record.watch(new world.client.MCPClient(world.options));
  await using plain = await startMcpHttpServer();
  const server = { type: "http", url: plain.url };
  const tried = await client.testServer({ server } as never);
  assert.deepEqual(tried, { ok: true, tools: ["read", "write"] });
  await using mcpServer = await startOAuthMcpServer();
  const remote = { type: "http", url: mcpServer.url, auth: { strategy: "oauth2" } };
  const { job_id: job, authorization_url: url } = await client.startOAuth({ server: remote } as never);
  assert.ok(job && url);
  const waiting = await client.getOAuthStatus(job);
  assert.equal(waiting.status, "authorizing");
  const finished = await client.submitOAuthCallback(job, { callback_url: await mcpServer.consent(url) });
  assert.equal(finished.status, "succeeded");
  assert.deepEqual(finished.tools, ["read"]);
  client.close();
}
