import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AgentScript } from "../../../testing/acp/agent-script.ts";
import { scriptedAgentCommand } from "../../../testing/acp/scripted-agent-command.ts";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { until } from "../../../testing/until.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

type Info = { readonly id: string; readonly execution_status: string } & Record<string, unknown>;
type AnyEvent = Record<string, unknown> & { kind: string };

async function start(script: AgentScript, more: object = {}): Promise<string> {
  const agent = { kind: "ACPAgent", acp_command: scriptedAgentCommand(script), acp_model: null };
  const { workspace } = server.startRequest();
  const reply = await server.call("POST", "/api/conversations", { agent, workspace, ...more });
  expect(reply.status, reply.text).toBe(201);
  return (reply.json as Info).id;
}

async function send(id: string, text: string): Promise<void> {
  const content = [{ type: "text", text }];
  const reply = await server.call("POST", `/api/conversations/${id}/events`, {
    role: "user",
    content,
    run: true,
  });
  expect(reply.status, reply.text).toBe(200);
}

async function readInfo(id: string): Promise<Info> {
  return (await server.call("GET", `/api/conversations/${id}`)).json as Info;
}

async function restOf(id: string): Promise<string> {
  await until(async () => (await readInfo(id)).execution_status !== "running");
  return (await readInfo(id)).execution_status;
}

async function eventsOf(id: string): Promise<AnyEvent[]> {
  const { json } = await server.call("GET", `/api/conversations/${id}/events/search?limit=100`);
  return (json as { items: AnyEvent[] }).items;
}

test("a program works in a conversation: files and commands through us, its permission answered by a route", async () => {
  const path = join(server.workspaceDir, "made.txt");
  const rm = { id: "c1", title: "rm x", kind: "execute", rawInput: { command: "rm x" } };
  const id = await start(
    {
      models: ["small", "large"],
      prompts: [
        [
          { write: { path, content: "made" } },
          { read: path },
          { run: "echo out; echo err >&2; exit 3" },
          { ask: rm },
        ],
      ],
    },
    {
      confirmation_policy: { kind: "AlwaysConfirm" },
      secrets: { TOKEN: { kind: "StaticSecret", value: "very-secret-value" } },
    },
  );
  await send(id, "go");
  const asked = [
    { tool_name: "file_editor", action: { command: "create", path } },
    { tool_name: "terminal", action: { command: "echo out; echo err >&2; exit 3" } },
    { tool_name: "terminal", action: { command: "rm x" }, summary: "rm x" },
  ];
  for (const question of asked) {
    expect(await restOf(id)).toBe("waiting_for_confirmation");
    const { items } = (await server.call("GET", `/api/conversations/${id}/approvals`)).json as {
      items: AnyEvent[];
    };
    expect(items).toMatchObject([question]);
    const answers = [{ action_id: items[0]!["action_id"], accept: question !== asked[2] }];
    expect((await server.call("POST", `/api/conversations/${id}/approvals`, { answers })).status).toBe(200);
  }
  expect(await restOf(id)).toBe("finished");
  expect(readFileSync(path, "utf8")).toBe("made");
  const events = await eventsOf(id);
  const texts = events.flatMap((event) =>
    event.kind === "MessageEvent" && event["source"] === "agent"
      ? [JSON.stringify(event["llm_message"])]
      : [],
  );
  expect(texts.join()).toMatch(/"made".*"3: out\\nerr\\n"/);
  const calls = events.filter(({ kind }) => kind === "ACPToolCallEvent");
  expect(calls.map(({ status, tool_kind }) => `${String(tool_kind)} ${String(status)}`)).toEqual([
    "edit pending",
    "edit completed",
    "read in_progress",
    "read completed",
    "execute pending",
    "execute failed",
    "execute pending",
    "execute failed",
  ]);
  expect(await readInfo(id)).toMatchObject({
    agent: { kind: "ACPAgent", llm: { model: "acp-managed" } },
    current_model_id: "small",
    supports_runtime_model_switch: true,
  });
  const reply = await server.call("POST", `/api/conversations/${id}/switch_acp_model`, { model: "large" });
  expect(reply.status, reply.text).toBe(200);
  expect(await readInfo(id)).toMatchObject({ current_model_id: "large", agent: { acp_model: "large" } });
  const none = await server.call("POST", `/api/conversations/${id}/switch_acp_model`, { model: "huge" });
  expect(none).toMatchObject({ status: 400 });
  expect(none.text).toContain("large");
  const fork = await server.call("POST", `/api/conversations/${id}/fork`, {});
  expect(fork).toMatchObject({ status: 409 });
});

test("a program that is not there, or writes something else, is named with the fix", async () => {
  const { workspace } = server.startRequest();
  const troubles = [
    [["/no/such/agent"], "/no/such/agent"],
    [scriptedAgentCommand({ trouble: "garbage" }), "something else than ACP messages"],
  ] as const;
  for (const [command, words] of troubles) {
    const agent = { kind: "ACPAgent", acp_command: command };
    const { json } = await server.call("POST", "/api/conversations", { agent, workspace });
    const { id } = json as Info;
    await send(id, "go");
    expect(await restOf(id)).toBe("error");
    const error = (await eventsOf(id)).find(({ kind }) => kind === "ConversationErrorEvent");
    expect(error).toMatchObject({ code: "ACPSpawnError" });
    expect(error!["detail"]).toContain(words);
    expect(error!["detail"]).toContain("acp_command");
  }
});

test("an agent that does not end its prompt is ended with everything that it started, and a restart finds its session", async () => {
  const pidFile = join(server.folder, "pid");
  const run = `test -e ${pidFile} && exit; sleep 300 & echo $! > ${pidFile}; wait`;
  const id = await start({ canLoad: true, prompts: [[{ run }]] });
  await send(id, "go");
  await until(() => existsSync(pidFile) && readFileSync(pidFile, "utf8").trim() !== "");
  const pid = Number(readFileSync(pidFile, "utf8"));
  await server.call("POST", `/api/conversations/${id}/interrupt`);
  await until(() => !isAlive(pid));
  await until(async () =>
    (await eventsOf(id)).some(({ kind, status }) => kind === "ACPToolCallEvent" && status === "failed"),
  );
  await server.restart();
  await send(id, "hello again");
  expect(await restOf(id)).toBe("finished");
  const warnings = (await eventsOf(id)).filter((event) => event["key"] === "warning");
  expect(warnings).toEqual([]);
});

test("the models of an agent are read by starting it once; its trouble is an answer", async () => {
  const ask = (script: AgentScript, more: object = {}) =>
    server.call("POST", "/api/acp/models", {
      agent_settings: {
        agent_kind: "acp",
        acp_server: "custom",
        acp_command: scriptedAgentCommand(script),
        ...more,
      },
    });
  expect((await ask({ models: ["a", "b"] })).json).toEqual({
    agent_name: "Scripted",
    agent_version: "1.2.3",
    current_model_id: "a",
    available_models: [
      { model_id: "a", name: "A" },
      { model_id: "b", name: "B" },
    ],
    supports_runtime_model_switch: true,
    error: null,
  });
  expect((await ask({ trouble: "login" })).json).toMatchObject({ error: { code: "ACPAuthRequired" } });
  const hanging = await ask({ trouble: "hangs" }, { acp_startup_timeout: 1 });
  expect(hanging.json).toMatchObject({ available_models: [], error: { code: "ACPInitError" } });
  const custom = await server.call("POST", "/api/acp/models", { agent_settings: { acp_server: "custom" } });
  expect(custom).toMatchObject({ status: 422 });
  expect(custom.text).toContain("acp_command");
});

test("a profile of another agent begins a conversation with it", async () => {
  const profile = {
    agent_kind: "acp",
    acp_server: "custom",
    acp_command: scriptedAgentCommand({}).map(quoted).join(" "),
  };
  const saved = await server.call("POST", "/api/agent-profiles/other", profile);
  expect(saved.status, saved.text).toBe(201);
  const detail = (await server.call("GET", "/api/agent-profiles/other")).json as { profile: { id: string } };
  const { workspace } = server.startRequest();
  const request = { workspace, agent_profile_id: detail.profile.id };
  const reply = await server.call("POST", "/api/conversations", request);
  expect(reply.status, reply.text).toBe(201);
  const { id } = reply.json as Info;
  await send(id, "hello");
  expect(await restOf(id)).toBe("finished");
});

function quoted(word: string): string {
  return `'${word}'`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
