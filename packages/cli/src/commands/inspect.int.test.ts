import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Inspection } from "@convoke/server/inspect";
import {
  ConvokeProcess,
  runConvoke,
  startScriptedModel,
  type CommandOutcome,
  type ScriptedModelServer,
} from "@convoke/server/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

// The server that the README starts, with sandboxes. Its agents work on the machine, with a command that takes its time.
let server: ConvokeProcess;
let model: ScriptedModelServer;
beforeAll(async () => {
  const turns = [{ tool_calls: [{ name: "terminal", arguments: { command: "sleep 600" } }] }];
  model = await startScriptedModel({ script: { turns, loop: true } });
  server = await ConvokeProcess.start();
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
});

async function inspect(...words: string[]): Promise<CommandOutcome> {
  return await runConvoke(["inspect", ...words, "--data-dir", server.dataDir], { HOME: server.folder });
}

async function found(id: string): Promise<Inspection> {
  const { code, stdout, stderr } = await inspect(id, "--json");
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Inspection;
}

async function startConversation(more: object = {}): Promise<string> {
  const id = randomUUID();
  const workspace = join(server.folder, "work", id);
  await mkdir(workspace, { recursive: true });
  const reply = await server.call("POST", "/api/conversations", {
    conversation_id: id,
    agent: {
      kind: "Agent",
      llm: { model: "openai/scripted", base_url: `${model.url}/v1`, api_key: "canary-llm-key" },
      tools: [{ name: "terminal" }],
    },
    workspace: { kind: "LocalWorkspace", working_dir: workspace },
    initial_message: { content: [{ type: "text", text: "Begin." }], run: true },
    secrets: { NOTE: { kind: "StaticSecret", value: "canary-note" } },
    ...more,
  });
  expect(reply.status, reply.text).toBe(201);
  return id;
}

const running = { execution: "started", tool_name: "terminal", is_waiting: false };

test("convoke inspect shows a run in progress beside the server that works on it, and leaves it alone", async () => {
  const id = await startConversation();
  await expect.poll(async () => (await found(id)).open_actions).toMatchObject([running]);
  const first = await found(id);
  expect(first).toMatchObject({
    lease: { node: { is_alive: true, address: expect.stringContaining("http") as string } },
    state: { execution_status: "running", run: { model_answers: 1 } },
    store: { damages: [] },
  });
  const { code, stdout, stderr } = await inspect(id.slice(0, 13), "--events", "3");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const lines = stdout.trimEnd().split("\n");
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(100);
  expect(lines).toEqual(
    expect.arrayContaining([
      `Conversation ${id}`,
      "  node          alive",
      expect.stringMatching(/^ {4}started at 2/),
      `Newest events (3 of ${first.store.last_seq})`,
    ]),
  );
  expect(stdout).toMatch(/^ {2}The call \S+ of terminal runs since 2/m);
  expect(stdout + JSON.stringify(first)).not.toContain("canary");
  expect((await found(id)).lease).toEqual(first.lease);
});

test("convoke inspect shows what waits for a person", async () => {
  const id = await startConversation({ confirmation_policy: { kind: "AlwaysConfirm" } });
  await expect.poll(async () => (await found(id)).state?.execution_status).toBe("waiting_for_confirmation");
  const { stdout } = await inspect(id);
  expect(stdout).toContain("  It waits for a person to accept or reject 1 call.\n");
  expect(stdout).toContain("    waiting for approval\n");
});

test("convoke inspect refuses what names no conversation, or several, or no store", async () => {
  await startConversation({ conversation_id: "abcd0000-0000-4000-8000-000000000001" });
  await startConversation({ conversation_id: "abcd0000-0000-4000-8000-000000000002" });
  expect(await inspect("abcd0000-0000-4000-8000-000000000003")).toMatchObject({
    code: 1,
    stdout: "",
    stderr: `There is no conversation abcd0000-0000-4000-8000-000000000003 in ${server.dataDir}. Give its id or the beginning of it; convoke ls lists them.\n`,
  });
  const several = await inspect("abcd");
  expect(several.code).toBe(2);
  expect(several.stderr).toMatch(/^Several conversations in \S+ begin with abcd: .*Give more of the id\.\n$/);
  const nowhere = join(server.folder, "nowhere");
  expect(await runConvoke(["inspect", "abcd", "--data-dir", nowhere])).toMatchObject({
    code: 2,
    stderr: `There is no data folder ${nowhere}. Name it with --data-dir.\n`,
  });
  expect((await inspect("abcd", "--events", "many")).code).toBe(2);
});

// The last one: it kills the server.
test("convoke inspect says what a server that was killed has left, and that a store is locked", async () => {
  const id = await startConversation();
  await expect.poll(async () => (await found(id)).open_actions).toMatchObject([running]);
  await server.end("SIGKILL");
  const left = await found(id);
  expect(left).toMatchObject({
    row: { is_active: true },
    lease: { node: { is_alive: false } },
    open_actions: [running],
    conclusions: [
      expect.stringMatching(/^The server that owned it has died/) as string,
      expect.stringMatching(/^The call \S+ of terminal had begun at 2.*nobody knows its outcome/) as string,
    ],
  });
  expect((await inspect(id)).stdout).toContain("  node          not alive\n");
  const path = join(server.dataDir, "journal.db");
  using database = new DatabaseSync(path);
  database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  expect(await inspect(id, "--timeout", "1.2")).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(
      /^Waiting for .*journal\.db, [^]*journal\.db is locked by another process/,
    ) as string,
  });
});
