import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openGitHost, type GitHost, type Tree } from "../extensions/sources/testing/git-host.ts";
import { startTestServer, type TestServer } from "./start-server.ts";
import { readWallConfig } from "../boot/config-wall.ts";

const hasGit = spawnSync("git", ["--version"]).status === 0;
const question = "Judge for the plugin.";
const script = {
  turns: [{ match: { last_user_contains: question }, text: '{"decision":"allow"}' }, { text: "Done." }],
  loop: true,
};
let host: GitHost;
let server: TestServer;

beforeAll(async () => {
  if (!hasGit) return;
  host = await openGitHost();
  const wall = readWallConfig({}, { wall: "off", network: "git.example.com" });
  server = await startTestServer({ script, config: { wall }, git: { outside: host.ways } });
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await host?.[Symbol.asyncDispose]();
});

const plugin = (words: string): Tree => ({
  "kit/.claude-plugin/plugin.json": '{"name":"kit","version":"1.0","description":"A kit."}',
  "kit/skills/lint/SKILL.md": `---\ndescription: How to lint.\ntriggers: [lint]\n---\n${words}`,
  "kit/commands/ship.md": "---\ndescription: Ships.\n---\nShip it now.",
  "kit/agents/poet.md": "---\ndescription: Writes verses.\n---\nAnswer in verses.",
  "kit/hooks/hooks.json": JSON.stringify({ Stop: [{ hooks: [{ type: "prompt", prompt: question }] }] }),
  "kit/hooks/guard.sh": { run: "#!/bin/sh\nexit 0\n" },
  "kit/.mcp.json": JSON.stringify({
    mcpServers: {
      verses: { command: "${CLAUDE_PLUGIN_ROOT}/serve", env: { KEY: "key-of-kit" }, enabled: false },
    },
  }),
});
const source = "https://git.example.com/tools.git";
type Shown = Readonly<Record<string, unknown>>;

async function ask(method: string, path: string, body?: unknown, status = 200): Promise<Shown> {
  const reply = await server.call(method, path, body);
  expect(reply.status, reply.text).toBe(status);
  return reply.json as Shown;
}

test.skipIf(!hasGit)(
  "a plugin from git is shown, installed by its commit, refreshed with what changes, and leaves nothing (needs git)",
  async () => {
    const first = await host.commit("tools", plugin("Lint every file."));
    const given = { source, ref: "main", repo_path: "kit" };
    const shown = await ask("POST", "/api/plugins/fetch", given);
    expect(shown).toMatchObject({
      resolved_ref: first,
      name: "kit",
      version: "1.0",
      manifest: { description: "A kit." },
      skills: ["lint"],
      commands: ["kit:ship"],
      agents: [{ name: "poet" }],
      hooks: [{ event: "Stop", runs: `prompt: ${question}` }],
      warnings: [{ code: "has_hooks" }, { code: "has_programs" }],
    });
    expect(JSON.stringify(shown)).not.toContain("key-of-kit");
    expect((shown["files"] as Shown[]).map(({ path }) => path)).toContain("hooks/guard.sh");
    expect((await ask("GET", "/api/plugins/installed"))["plugins"]).toEqual([]);

    // What was shown is installed, although somebody has replaced it at the host meanwhile.
    const second = await host.commit("tools", plugin("Lint nothing."), { isForced: true });
    const installed = await ask("POST", "/api/plugins/install", {
      ...given,
      ref: first,
      requested_ref: "main",
    });
    expect(installed).toMatchObject({
      enabled: true,
      resolved_ref: first,
      requested_ref: "main",
      digest: shown["digest"],
    });
    const path = String(installed["install_path"]);
    expect(await readFile(join(path, "skills/lint/SKILL.md"), "utf8")).toContain("Lint every file.");

    const trial = await ask("POST", "/api/plugins/installed/kit/refresh", { dry_run: true });
    const changes = {
      from: first,
      to: second,
      added: [],
      changed: ["skills/lint/SKILL.md"],
      removed: [],
    };
    expect(trial).toMatchObject({ changes, plugin: { resolved_ref: first } });
    await server.restart();
    const refreshed = await ask("POST", "/api/plugins/installed/kit/refresh", { commit: second });
    expect(refreshed).toMatchObject({ changes, plugin: { resolved_ref: second, enabled: true } });
    expect(existsSync(path)).toBe(false);

    // Without the name of a commit nobody has seen it: it is off.
    const third = await host.commit("tools", plugin("Lint again."));
    expect(await ask("POST", "/api/plugins/installed/kit/refresh")).toMatchObject({
      message: expect.stringContaining("off until"),
      plugin: { resolved_ref: third, enabled: false },
    });
    await ask("DELETE", "/api/plugins/installed/kit");
    const unseen = await ask("POST", "/api/plugins/install", given);
    expect(unseen).toMatchObject({ enabled: false, resolved_ref: third });
    await ask("DELETE", "/api/plugins/installed/kit");
    for (const folder of await readdir(join(server.dataDir, "extensions"))) {
      const left = await readdir(join(server.dataDir, "extensions", folder));
      expect(left).not.toContain(unseen["digest"]);
    }
  },
);

test.skipIf(!hasGit)(
  "policies, missing plugins and unseen branches are refused by name (needs git)",
  async () => {
    await host.commit("tools", plugin("Lint."));
    const refusal = async (path: string, body: object) => {
      const reply = await server.call("POST", path, body);
      return `${reply.status} ${reply.text}`;
    };
    const other = { source: "https://other.example.com/tools.git" };
    expect(await refusal("/api/plugins/fetch", other)).toMatch(/^403 .*network_refused/);
    expect(await refusal("/api/plugins/fetch", { source })).toMatch(/^422 .*repo_path: kit/);
    expect(await refusal("/api/skills/fetch", { source, repo_path: "kit" })).toMatch(
      /^422 .*kit\/skills\/lint/,
    );
    expect(await refusal("/api/plugins/fetch", { source, ref: "gone" })).toMatch(/^422 .*has no gone/);
    const start = { ...server.startRequest(), plugins: [{ source, ref: "main", repo_path: "kit" }] };
    expect(await refusal("/api/conversations", start)).toMatch(/^422 .*Name a commit in full/);
  },
);

test.skipIf(!hasGit)(
  "load_plugin adds skills, commands, hooks, servers and sub-agents for the next turn, and they outlive a restart (needs git)",
  async () => {
    const commit = await host.commit("tools", plugin("Lint every file."));
    const { id } = await server.createConversation({ text: "Begin.", tags: { by: "newer" } });
    await server.waitForStatus(id, "finished");
    const load = (plugin_ref: string) =>
      server.call("POST", `/api/conversations/${id}/load_plugin`, { plugin_ref });
    expect((await load("kit")).status).toBe(404);
    const reply = await load(`${source}@${commit}#kit`);
    expect(reply.status, reply.text).toBe(200);
    expect((await load(`${source}@${commit}#kit`)).text).toContain("plugin_loaded");
    const check = async (): Promise<void> => {
      const info = await server.call("GET", `/api/conversations/${id}`);
      expect(info.json).toMatchObject({
        plugins: [{ source, ref: commit, repo_path: "kit" }],
        agent_definitions: [{ name: "poet" }],
        hook_config: { stop: [{ hooks: [{ prompt: question }] }] },
        agent: { mcp_config: { mcpServers: { verses: { command: expect.stringMatching(/kit\/serve$/) } } } },
      });
      expect(info.text).not.toContain("key-of-kit");
      const before = (await server.events(id)).length;
      await server.client.sendMessage(id, {
        content: [{ type: "text", text: "/kit:ship, then lint" }],
        run: true,
      });
      await server.waitForStatus(id, "finished");
      const added = (await server.events(id)).slice(before);
      expect(added.map(({ kind }) => kind)).toContain("HookExecutionEvent");
    };
    await check();
    const asked = server.model.requests.findLast(({ text }) => text.includes("/kit:ship"))!.text;
    for (const words of [
      "The plugin kit was added",
      "lint: How to lint.",
      "Ship it now.",
      "Lint every file.",
    ])
      expect(asked).toContain(words);
    expect(await server.events(id)).toContainEqual(
      expect.objectContaining({ key: "plugins", value: [expect.objectContaining({ name: "kit", commit })] }),
    );
    await server.restart();
    await check();
  },
);

test.skipIf(!hasGit)(
  "a skill from git is the person's in conversations that ask for these (needs git)",
  async () => {
    const commit = await host.commit("skills", {
      "SKILL.md":
        "---\nname: deploy\ndescription: How it is deployed.\ntriggers: [deploy]\n---\nPush the button.",
    });
    const at = "https://git.example.com/skills";
    expect(await ask("POST", "/api/skills/fetch", { source: at })).toMatchObject({
      name: "deploy",
      content: "Push the button.",
      resolved_ref: commit,
    });
    await ask("POST", "/api/skills/install", { source: at, ref: commit });
    const { agent } = server.startRequest();
    const id = await server.runTo("finished", "Please deploy", {
      agent: { ...agent, agent_context: { load_user_skills: true } },
    });
    expect(JSON.stringify(await server.events(id))).toContain("Push the button.");
    await ask("DELETE", "/api/skills/installed/deploy");
  },
);

test.skipIf(!hasGit)(
  "extensions of Agent Canvas are off at first, served with headers that stop them, and removed (needs git)",
  async () => {
    const manifest = {
      schema_version: 1,
      name: "board",
      display_name: "Board",
      version: "0.1.0",
      entrypoint: "dist/index.js",
      icon: "icon.svg",
      contributes: { pages: [{ id: "board", title: "Board", path: "/board" }] },
      backend: { schema_version: 1, artifacts: {}, argv: ["serve"] },
    };
    await host.commit("board", {
      "canvas-extension.json": JSON.stringify(manifest),
      "dist/index.js": "export function activate() {}",
      "icon.svg": "<svg/>",
    });
    const root = "/api/canvas-extensions";
    const one = `${root}/installed/board`;
    const body = { source: "https://git.example.com/board.git" };
    expect(await ask("POST", `${root}/install`, body)).toMatchObject({
      name: "board",
      enabled: false,
      manifest,
    });
    await ask("POST", `${root}/install`, body, 409);
    await ask("GET", `${one}/bundle`, undefined, 404);
    expect(await ask("PATCH", one, { enabled: true })).toEqual({ name: "board", enabled: true });
    const list = (await ask("GET", `${root}/installed`))["canvas_extensions"] as Shown[];
    expect(list).toMatchObject([
      { name: "board", enabled: true, manifest: { contributes: manifest.contributes } },
    ]);
    const bundle = await server.call("GET", `${one}/bundle`);
    expect(bundle.text).toBe("export function activate() {}");
    expect(Object.fromEntries(bundle.headers)).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
    });
    expect((await server.call("GET", `${one}/icon`)).headers.get("content-type")).toBe("image/svg+xml");
    const backend = await server.call("POST", `${one}/backend/start`, { revision: "x" });
    expect([backend.status, backend.text]).toEqual([404, expect.stringContaining("starts no backends")]);
    await ask("DELETE", one);
    await ask("GET", one, undefined, 404);
  },
);
