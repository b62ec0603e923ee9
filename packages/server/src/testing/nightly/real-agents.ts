import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import { parseArgs } from "node:util";
import { findBubblewrap } from "../../sandboxes/find-bubblewrap.ts";
import type { Outside } from "../../walls/walls-deps.ts";
import { startTestServer, type TestServer } from "../start-server.ts";
import { withWalls } from "../walled-server.ts";

/**
 * `npx node packages/server/src/testing/nightly/real-agents.ts [--only name] [--from folder]`: other agents inside conversations of ours.
 * Each is installed from the registry, works against the scripted model, runs one command after we have allowed it and one that we
 * reject, and continues its session after a restart of the server. `--from`: a folder in which they are installed already.
 * Skips by name what the registry does not have; exits with 1 when one fails.
 */
const { values } = parseArgs({
  options: {
    only: { type: "string" },
    from: { type: "string" },
    "without-wall": { type: "boolean", default: false },
  },
});

type RealAgent = {
  readonly name: string;
  readonly packageName: string;
  readonly tool: string;
  readonly command: (program: string) => readonly string[];
  readonly environment: (modelUrl: string, home: string) => Readonly<Record<string, string>>;
  readonly files: (modelUrl: string) => Readonly<Record<string, string>>;
};

const agents: readonly RealAgent[] = [
  {
    name: "opencode",
    packageName: "opencode-ai",
    tool: "bash",
    command: (folder) => [join(folder, "opencode"), "acp"],
    environment: (_, home) => ({
      HOME: home,
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
    }),
    files: (modelUrl) => ({
      "opencode.json": JSON.stringify({
        model: "scripted/scripted",
        small_model: "scripted/scripted",
        autoupdate: false,
        share: "disabled",
        permission: { bash: "ask" },
        provider: {
          scripted: {
            npm: "@ai-sdk/openai-compatible",
            name: "Scripted",
            options: { baseURL: `${modelUrl}/v1`, apiKey: "any" },
            models: { scripted: { name: "Scripted" } },
          },
        },
      }),
    }),
  },
  {
    name: "qwen-code",
    packageName: "@qwen-code/qwen-code",
    tool: "run_shell_command",
    command: (folder) => [join(folder, "qwen"), "--acp", "--auth-type", "openai"],
    environment: (modelUrl, home) => ({
      HOME: home,
      OPENAI_BASE_URL: `${modelUrl}/v1`,
      OPENAI_API_KEY: "any",
      OPENAI_MODEL: "scripted",
    }),
    files: () => ({}),
  },
];

const bubblewrap = await findBubblewrap({
  self: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
  unprivileged: { uid: 65_534, gid: 65_534 },
  environment: process.env,
});
const isWalled = bubblewrap.isUsable && !values["without-wall"];
/** A name that leads to the scripted model, because a wall has no way to this machine. */
const modelHost = "model.example.org";
console.log(isWalled ? "Each works in a wall." : `Without walls: ${bubblewrap.detail}`);
for (const agent of agents.filter(({ name }) => (values.only ?? name) === name)) {
  const outcome = await tryAgent(agent).catch((error: unknown) => `failed: ${String(error)}`);
  console.log(`${agent.name}: ${outcome}`);
  if (outcome.startsWith("failed")) process.exitCode = 1;
}

async function tryAgent(agent: RealAgent): Promise<string> {
  const call = (command: string) => [
    { name: agent.tool, arguments: { command, description: "A step", is_background: false } },
  ];
  const on = (last_user_contains: string) => ({ match: { last_user_contains } });
  let modelPort = 0;
  const ways: Outside = {
    resolve: async () => [{ address: "1.0.0.1", family: 4 }],
    connect: () => connect({ port: modelPort, host: "127.0.0.1", allowHalfOpen: true }),
    upstreamTrust: () => createSecureContext(),
  };
  await using server = await startTestServer({
    ...(isWalled ? withWalls(ways) : {}),
    environment: { PATH: process.env["PATH"] ?? "" },
    script: {
      turns: [
        { ...on("#allowed"), text: "I write it.", tool_calls: call("echo written > made.txt") },
        { ...on("#allowed"), text: "It is written." },
        { ...on("#rejected"), tool_calls: call("rm made.txt") },
        { ...on("#rejected"), text: "It stays." },
        { ...on("#again"), text: "I am here again." },
        { text: "A title" },
      ],
    },
  });
  modelPort = Number(new URL(server.model.url).port);
  const folder = values.from ?? install(server.workspaceDir, agent.packageName);
  if (folder === null) return `skipped: the registry does not give ${agent.packageName}`;
  return await work(server, agent, folder);
}

async function work(server: TestServer, agent: RealAgent, folder: string): Promise<string> {
  const begunMs = performance.now();
  const seconds = (): string => `${((performance.now() - begunMs) / 1000).toFixed(1)} s`;
  const id = await begin(server, agent, folder);
  await send(server, id, "#allowed");
  await rest(server, id, "waiting_for_confirmation");
  const asked = seconds();
  await answer(server, id, true);
  await rest(server, id, "finished");
  const done = seconds();
  const file = join(server.workspaceDir, "made.txt");
  if (readFileSync(file, "utf8").trim() !== "written")
    throw new Error("The command that was allowed did not run.");
  await send(server, id, "#rejected");
  await rest(server, id, "waiting_for_confirmation");
  await answer(server, id, false);
  await rest(server, id, "finished");
  if (!existsSync(file)) throw new Error("The command that was rejected ran.");
  await server.restart();
  await send(server, id, "#again");
  await rest(server, id, "finished");
  const events = await server.eventTexts(id);
  const calls = events.filter((text) => text.includes('"ACPToolCallEvent"'));
  const isLost = events.some((text) => text.includes("acp_session_lost"));
  const isHere = events.some((text) => text.includes("I am here again."));
  if (!isHere) throw new Error(`It did not go on after the restart:\n${events.slice(-6).join("\n")}`);
  if (calls.length < 3) throw new Error(`It told ${calls.length} calls.`);
  return `asked after ${asked}, done after ${done}, all after ${seconds()}; ${calls.length} events of calls; its session ${isLost ? "was lost" : "went on"} after a restart`;
}

/** Where its programs are; null where the registry does not have it. */
function install(workspace: string, name: string): string | null {
  // Inside of the folder of the conversation, because a wall shows nothing else.
  const folder = join(workspace, "agents");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{"private":true}');
  const args = ["install", "--no-audit", "--no-fund", "--no-progress", name];
  const { status, stderr } = spawnSync("npm", args, { cwd: folder, encoding: "utf8", timeout: 300_000 });
  if (status !== 0) console.log(stderr.trim().split("\n").slice(0, 3).join("\n"));
  return status === 0 ? join(folder, "node_modules", ".bin") : null;
}

async function begin(server: TestServer, agent: RealAgent, folder: string): Promise<string> {
  const home = join(server.workspaceDir, "home");
  mkdirSync(home);
  const modelUrl = isWalled ? `http://${modelHost}` : server.model.url;
  for (const [name, text] of Object.entries(agent.files(modelUrl)))
    writeFileSync(join(server.workspaceDir, name), text);
  const { workspace } = server.startRequest();
  const { status, json, text } = await server.call("POST", "/api/conversations", {
    workspace,
    agent: {
      kind: "ACPAgent",
      acp_command: agent.command(folder),
      acp_env: agent.environment(modelUrl, home),
    },
    confirmation_policy: { kind: "AlwaysConfirm" },
    ...(isWalled ? { wall: { network: { allow: [modelHost] } } } : {}),
  });
  if (status !== 201) throw new Error(text);
  return (json as { id: string }).id;
}

async function send(server: TestServer, id: string, text: string): Promise<void> {
  await server.client.sendMessage(id, { content: [{ type: "text", text }], run: true });
}

async function answer(server: TestServer, id: string, accept: boolean): Promise<void> {
  const { json } = await server.call("GET", `/api/conversations/${id}/approvals`);
  const { items } = json as { items: { action_id: string }[] };
  const answers = items.map(({ action_id }) => ({ action_id, accept }));
  const { status, text } = await server.call("POST", `/api/conversations/${id}/approvals`, { answers });
  if (status !== 200) throw new Error(text);
}

async function rest(server: TestServer, id: string, wanted: string): Promise<void> {
  for (let at = 0; at < 1_800; at += 1) {
    const { execution_status: status } = await server.client.getConversation(id);
    if (status === wanted) return;
    if (status !== "running") throw new Error(await report(server, id, `it is ${status}, not ${wanted}`));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(await report(server, id, `it did not become ${wanted} within three minutes`));
}

async function report(server: TestServer, id: string, what: string): Promise<string> {
  const asked = server.model.requests.map(({ text }) => text.slice(-200));
  return [what, ...(await server.eventTexts(id)).slice(-6), `${asked.length} requests`].join("\n");
}
