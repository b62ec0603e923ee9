import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { backUp } from "../admin/back-up.ts";
import { copyStore, type CopyPlace } from "../admin/copy-store.ts";
import { restore } from "../admin/restore.ts";
import { readWallConfig } from "../boot/config-wall.ts";
import { openGitHost, type GitHost } from "../extensions/sources/testing/git-host.ts";
import { silentLogger } from "../lib/logger.ts";
import { probePostgres, startPostgres, type TestPostgres } from "./start-postgres.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "./start-server.ts";

const hasGit = spawnSync("git", ["--version"]).status === 0;
const probe = probePostgres();
const masterSecret = "the secret of all servers";
const question = "Judge for the plugin.";
const source = "https://git.example.com/tools.git";
let host: GitHost;
let postgres: TestPostgres | null = null;
let commit: string;

beforeAll(async () => {
  if (!hasGit) return;
  host = await openGitHost();
  if (probe.isUsable) postgres = await startPostgres();
  commit = await host.commit("tools", {
    "kit/.claude-plugin/plugin.json": '{"name":"kit"}',
    "kit/commands/ship.md": "---\ndescription: Ships.\n---\nShip it now.",
    "kit/hooks/hooks.json": JSON.stringify({ Stop: [{ hooks: [{ type: "prompt", prompt: question }] }] }),
    "kit/guard.sh": { run: "#!/bin/sh\nexit 0\n" },
  });
});
afterAll(async () => {
  await postgres?.[Symbol.asyncDispose]();
  await host?.[Symbol.asyncDispose]();
});

function start(options: TestServerOptions = {}): Promise<TestServer> {
  const wall = readWallConfig({}, { wall: "off", network: "git.example.com" });
  const turns = [
    { match: { last_user_contains: question }, text: '{"decision":"allow"}' },
    { text: "Done." },
  ];
  return startTestServer({
    script: { turns, loop: true },
    git: { outside: host.ways },
    ...options,
    config: { wall, masterSecret, ...options.config },
  });
}

async function ask(server: TestServer, method: string, path: string, body?: unknown): Promise<unknown> {
  const reply = await server.call(method, path, body);
  expect(reply.status, reply.text).toBe(200);
  return reply.json;
}

async function install(server: TestServer): Promise<void> {
  const body = { source, repo_path: "kit", ref: commit };
  expect(await ask(server, "POST", "/api/plugins/install", body)).toMatchObject({ enabled: true });
}

/** The plugin is installed here with its files, and a conversation that names it has its command and its hook. */
async function checkUsable(server: TestServer, dataDir = server.dataDir): Promise<string> {
  const shown = await ask(server, "GET", "/api/plugins/installed/kit");
  expect(shown).toMatchObject({ enabled: true, resolved_ref: commit, install_path: expect.any(String) });
  const path = (shown as { install_path: string }).install_path;
  expect(path.startsWith(dataDir), path).toBe(true);
  expect(await readFile(join(path, "guard.sh"), "utf8")).toContain("exit 0");
  const { id } = await server.createConversation({ text: "/kit:ship", plugins: [{ source: "kit" }] });
  await server.waitForStatus(id, "finished");
  expect(server.model.requests.map(({ text }) => text).join()).toContain("Ship it now.");
  return id;
}

/** A conversation of the plugin goes on, and the plugin's hook runs. */
async function checkWorks(server: TestServer, id: string): Promise<void> {
  const before = (await server.events(id)).length;
  await server.client.sendMessage(id, { content: [{ type: "text", text: "/kit:ship" }], run: true });
  await server.waitForStatus(id, "finished");
  const added = JSON.stringify((await server.events(id)).slice(before));
  expect(added).toContain('"key":"hook_execution"');
  expect(added).toContain(question);
}

test.skipIf(!hasGit || !probe.isUsable)(
  `a plugin that was installed at one node is used at another one, also when the first is gone (needs git; ${probe.detail})`,
  async () => {
    const database = { url: await postgres!.createDatabase(), nodeAddress: null };
    await using first = await start({ config: { database } });
    await using second = await start({ config: { database, workspaceRoot: first.workspaceDir } });
    await install(first);
    await checkUsable(second);
    const { id } = await first.createConversation({ text: "/kit:ship", plugins: [{ source: "kit" }] });
    await first.waitForStatus(id, "finished");
    await first.close();
    await checkWorks(second, id);
    await checkUsable(second);
    // A node that starts later has it too, and one that removes it removes it everywhere.
    await using third = await start({ config: { database, workspaceRoot: first.workspaceDir } });
    await checkUsable(third);
    const shown = (await ask(third, "GET", "/api/plugins/installed/kit")) as { install_path: string };
    await ask(second, "DELETE", "/api/plugins/installed/kit");
    expect((await third.call("GET", "/api/plugins/installed/kit")).status).toBe(404);
    await third.restart();
    expect(existsSync(shown.install_path)).toBe(false);
    await checkWorks(third, id);
  },
);

test.skipIf(!hasGit)(
  "a plugin is in a backup of a data folder, and is used after a restore (needs git)",
  async () => {
    await using folder = await openTemporaryDirectory();
    const [backup, target] = [join(folder.path, "backup"), join(folder.path, "restored/data")];
    await using first = await start();
    await install(first);
    const id = await checkUsable(first);
    await backUp({ dataDir: first.dataDir, target: backup, onProgress: () => {} });
    const workspaceRoot = first.workspaceDir;
    await first.close();
    await restore({ backup, target, isChecked: true, onProgress: () => {} });
    await using second = await start({ config: { dataDir: target, workspaceRoot } });
    await checkUsable(second, target);
    await checkWorks(second, id);
  },
);

test.skipIf(!hasGit || !probe.isUsable)(
  `a plugin is copied from a folder to PostgreSQL and back, and is used at both (needs git; ${probe.detail})`,
  async () => {
    await using folder = await openTemporaryDirectory();
    const database = { url: await postgres!.createDatabase(), nodeAddress: null };
    const copy = async (from: CopyPlace, to: CopyPlace): Promise<void> => {
      const done = await copyStore({ from, to, masterSecret, logger: silentLogger, onProgress: () => {} });
      expect(done).toMatchObject({ differing: [], conflicts: [], unopened: 0 });
    };
    await using first = await start();
    await install(first);
    const id = await checkUsable(first);
    const workspaceRoot = first.workspaceDir;
    await first.close();
    await copy({ dataDir: first.dataDir }, { database });
    await using second = await start({ config: { database, workspaceRoot } });
    await checkUsable(second);
    await checkWorks(second, id);
    await second.close();
    const dataDir = join(folder.path, "back/data");
    await copy({ database }, { dataDir });
    await using third = await start({ config: { dataDir, workspaceRoot } });
    await checkUsable(third, dataDir);
    await checkWorks(third, id);
  },
);
