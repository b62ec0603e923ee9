import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

const question = "Judge for the plugin.";
const script = {
  turns: [{ match: { last_user_contains: question }, text: '{"decision":"allow"}' }, { text: "Done." }],
  loop: true,
};

let server: TestServer;
let root: string;
beforeAll(async () => {
  server = await startTestServer({ script });
  root = join(server.workspaceDir, "plugins", "tools");
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

async function putPlugin(): Promise<void> {
  await put(".claude-plugin/plugin.json", '{"name":"tools","version":"1.0"}');
  await put("skills/lint/SKILL.md", "---\ndescription: How to lint.\n---\nLint every file.");
  await put("skills/broken/SKILL.md", "---\nname: [\n---\n");
  await put("commands/ship.md", "---\ndescription: Ships.\n---\nShip it now.");
  const stop = [{ hooks: [{ type: "prompt", prompt: question }] }];
  const verses = { command: "${CLAUDE_PLUGIN_ROOT}/verses", env: { KEY: "key-of-the-poet" } };
  const head = [
    "description: Writes verses.",
    "tools: [terminal]",
    "skills: lint",
    "condenser: none",
    `hooks: ${JSON.stringify({ stop })}`,
    `mcp_config: ${JSON.stringify({ mcpServers: { verses } })}`,
  ];
  await put("agents/poet.md", ["---", ...head, "---", "Answer in verses."].join("\n"));
  await put("hooks/hooks.json", JSON.stringify({ description: "Guards.", hooks: { Stop: stop } }));
  const theirs = {
    command: "${CLAUDE_PLUGIN_ROOT}/serve",
    env: { KEY: "key-of-the-plugin" },
    enabled: false,
  };
  await put(".mcp.json", JSON.stringify({ mcpServers: { theirs } }));
}

async function refusal(more: object): Promise<{ loc: unknown; msg: string; type: string }> {
  const body = { ...server.startRequest(), ...more };
  const reply = await server.call("POST", "/api/conversations", body);
  expect(reply.status, reply.text).toBe(422);
  return (reply.json as { detail: { loc: unknown; msg: string; type: string }[] }).detail[0]!;
}

test("clients 1, plugins_at_the_start: skills, commands, hooks, sub-agents and servers of a plugin join the conversation, also when its folder is gone", async () => {
  await putPlugin();
  const plugins = [{ source: dirname(root), repo_path: "tools" }];
  const { agent } = server.startRequest();
  const own = { name: "lint", content: "Own words." };
  const { id } = await server.createConversation({
    text: "Please do /tools:ship",
    agent: {
      ...agent,
      tools: [...(agent.tools ?? []), { name: "task_tool_set" }],
      agent_context: { skills: [own, { name: "house", content: "House rules." }] },
      mcp_config: { mine: { command: "mine", enabled: false } },
    },
    plugins,
    tags: { by: "newer" },
  });
  await server.waitForStatus(id, "finished");
  const info = await server.call("GET", `/api/conversations/${id}`);
  expect(info.json).toMatchObject({
    plugins,
    agent_definitions: [
      {
        name: "poet",
        skills: ["lint"],
        condenser: { kind: "NoOpCondenser" },
        hooks: { stop: [{}] },
        mcp_config: { mcpServers: { verses: { command: `${root}/verses` } } },
      },
    ],
    hook_config: { stop: [{ hooks: [{ prompt: question }] }] },
    agent: { mcp_config: { mcpServers: { mine: {}, theirs: { command: `${root}/serve` } } } },
  });
  expect(info.text).not.toMatch(/key-of-the-(plugin|poet)/);
  const log = (await server.events(id)) as readonly ({ readonly kind: string } & Record<string, unknown>)[];
  expect(log.find(({ kind }) => kind === "HookExecutionEvent")).toMatchObject({ hook_event_type: "Stop" });
  expect(log.find(({ key }) => key === "warning")).toMatchObject({
    value: { code: "plugin_files_left_out", paths: [join(root, "skills/broken/SKILL.md")] },
  });
  const asked = server.model.requests.find(({ text }) => text.includes("/tools:ship"))!.text;
  for (const words of ["House rules.", "lint: How to lint.", "Ship it now.", "Writes verses."])
    expect(asked).toContain(words);
  expect(asked).not.toContain("Own words.");

  await rm(root, { recursive: true });
  await server.restart();
  await server.client.sendMessage(id, { content: [{ type: "text", text: "/tools:ship" }], run: true });
  await server.waitForStatus(id, "finished");
  const after = (await server.events(id)).slice(log.length) as readonly { readonly kind: string }[];
  expect(after.map(({ kind }) => kind)).toContain("HookExecutionEvent");
  expect(server.model.requests.at(-2)!.text).toContain("lint: How to lint.");
  // A known id is that conversation, whatever became of the plugin since.
  const again = { ...server.startRequest(), conversation_id: id, plugins };
  expect((await server.call("POST", "/api/conversations", again)).status).toBe(200);
});

test("P55: a plugin that nobody was shown, that is none, or whose guards cannot be understood is refused by its field", async () => {
  await putPlugin();
  for (const [plugin, field, words] of [
    [{ source: "github:owner/repo" }, "ref", "Name a commit in full"],
    [{ source: "https://example.org/x.git", ref: "main" }, "ref", "Name a commit in full"],
    [{ source: "git@example.org:x.git" }, "source", "over https only"],
    [{ source: "tools", ref: "main" }, "source", "No plugin called tools"],
    [{ source: root, ref: "main" }, "ref", "used as it is"],
    [{ source: root, repo_path: "../x" }, "repo_path", "outside"],
    [{ source: dirname(root) }, "source", "no manifest"],
  ] as const) {
    const { loc, msg } = await refusal({ plugins: [plugin] });
    expect(loc).toEqual(["body", "plugins", 0, field]);
    expect(msg).toContain(words);
  }
  for (const [path, text, words] of [
    ["hooks/hooks.json", '{"hooks":{"Sometime":[]}}', "hooks that cannot be used, Sometime"],
    ["hooks/hooks.json", "{", "not JSON"],
    [
      "agents/poet.md",
      "---\nhooks: {sometime: []}\n---\nx",
      "sub-agent poet that cannot be used, hooks.sometime",
    ],
    [".mcp.json", '{"mcpServers":{"x":{"transport":"smoke"}}}', "x.transport"],
  ] as const) {
    await putPlugin();
    await put(path, text);
    expect((await refusal({ plugins: [{ source: root }] })).msg).toContain(words);
  }
  await put("hooks/hooks.json", "x".repeat(70_000));
  expect((await refusal({ plugins: [{ source: root }] })).msg).toContain("64 KiB");
  expect((await refusal({ plugins: Array.from({ length: 21 }, () => ({ source: root })) })).loc).toEqual([
    "body",
    "plugins",
  ]);
});

test("load_plugin: what is wrong with a plugin is wrong with plugin_ref, the field that the caller wrote", async () => {
  const { id } = await server.createConversation();
  const commit = "0".repeat(40);
  for (const [plugin_ref, words] of [
    ["/nowhere/at/all", /has no manifest/],
    [`/srv/tools@${commit}`, /used as it is/],
    ["git@example.com:a/b.git", /over https only/],
    ["https://example.com/a", /commit in full/],
    ["https://example.com/a#../b", /leads outside/],
  ] as const) {
    const reply = await server.call("POST", `/api/conversations/${id}/load_plugin`, { plugin_ref });
    expect([reply.status, reply.text], plugin_ref).toEqual([422, expect.stringMatching(words)]);
    const { detail } = reply.json as { detail: { loc: string[] }[] };
    expect(detail.map(({ loc }) => loc)).toEqual([["body", "plugin_ref"]]);
    expect(reply.text).not.toMatch(/plugin_ref\.|"source"|"ref"|repo_path/);
  }
});
