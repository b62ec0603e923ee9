import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AppConversationStartTask } from "@convoke/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConvokeProcess } from "../testing/convoke-process.ts";
import { startScriptedModel, type ScriptedModelServer } from "../testing/index.ts";
import { until } from "../testing/until.ts";
import { openV1, type V1 } from "../testing/v1-client.ts";

let model: ScriptedModelServer;
let server: ConvokeProcess;
let v1: V1;
beforeAll(async () => {
  model = await startScriptedModel({ script: { turns: [{ text: "Hello." }], loop: true } });
  server = await ConvokeProcess.start();
  v1 = await openV1(server, model);
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
});

const firstId = "0198c0de-0000-7000-8000-00000000abcd";
const hello = { initial_message: { content: [{ type: "text", text: "first" }] } };

test("a server that was killed while a sandbox started resumes the start: one sandbox, one first message", async () => {
  const conversationId = firstId;
  const task = await v1.start({ ...hello, conversation_id: conversationId });
  const again = await v1.start({ ...hello, conversation_id: conversationId });
  expect(again.id).toBe(task.id);
  await server.end("SIGKILL");
  await server.restart();
  const ready = await v1.ready(task.id);
  expect(ready.app_conversation_id).toBe(conversationId.replaceAll("-", ""));
  await v1.untilStatus(conversationId, "finished");
  expect(await userTexts(conversationId)).toEqual(["first"]);
  const { json } = await server.call("GET", "/api/v1/sandboxes/search");
  expect((json as { items: { id: string }[] }).items.map(({ id }) => id)).toEqual([ready.sandbox_id]);
});

test("P22: killed in the setup script: it ran once, and what was sent meanwhile follows the first message in its order", async () => {
  const { sandbox_id: sandboxId } = (await v1.get([firstId]))[0]!;
  const project = join(server.dataDir, "sandboxes", sandboxId, "workspace/project");
  mkdirSync(join(project, ".openhands"));
  writeFileSync(
    join(project, ".openhands/setup.sh"),
    "echo begun >> setup.log\nuntil [ -e go ]; do sleep 0.05; done\necho ended >> setup.log\n",
  );
  const id = "0198c0de-0000-7000-8000-00000000beef";
  const task = await v1.start({ ...hello, conversation_id: id, sandbox_id: sandboxId });
  await untilStep(task.id, "RUNNING_SETUP_SCRIPT");
  await until(() => readLog(project).length > 0);
  await queue(`task-${task.id}`, "second");
  const search = await server.call(
    "GET",
    `/api/v1/app-conversations/start-tasks/search?conversation_id__eq=${id}`,
  );
  expect(search.json).toMatchObject({ items: [{ id: task.id, status: "RUNNING_SETUP_SCRIPT" }] });
  await server.end("SIGKILL");
  await server.restart();
  await queue(id, "third");
  writeFileSync(join(project, "go"), "");
  const ready = await v1.ready(task.id);
  const conversationId = ready.app_conversation_id!;
  await v1.untilStatus(conversationId, "finished");
  expect(readLog(project)).toEqual(["begun", "ended"]);
  expect(await userTexts(conversationId)).toEqual(["first", "second", "third"]);
  const late = await server.call("POST", `/api/v1/conversations/${conversationId}/pending-messages`, {
    content: [{ type: "text", text: "fourth" }],
  });
  expect(late).toMatchObject({ status: 201, json: { queued: false } });
  expect(await userTexts(conversationId)).toEqual(["first", "second", "third", "fourth"]);
});

test("starts in one folder prepare it one after another, and one that waits for its turn can be deleted", async () => {
  const first = await v1.ready((await v1.start({})).id);
  const project = join(server.dataDir, "sandboxes", first.sandbox_id!, "workspace/project");
  mkdirSync(join(project, ".openhands"));
  writeFileSync(
    join(project, ".openhands/setup.sh"),
    "echo begun >> setup.log\nuntil [ -e go ]; do sleep 0.05; done\necho ended >> setup.log\n",
  );
  const among = { sandbox_id: first.sandbox_id };
  const second = await v1.start(among);
  await until(() => readLog(project).length > 0);
  const third = await v1.start(among);
  const deletedId = "0198c0de-0000-7000-8000-00000000de1e";
  const deleted = await v1.start({ ...among, conversation_id: deletedId });
  for (const { id } of [third, deleted]) await untilStep(id, "WAITING_FOR_SANDBOX");
  await server.call("DELETE", `/api/v1/app-conversations/${deletedId}`);
  expect(readLog(project)).toEqual(["begun"]);
  writeFileSync(join(project, "go"), "");
  for (const { id } of [second, third]) await v1.ready(id);
  expect(readLog(project)).toEqual(["begun", "ended", "begun", "ended"]);
});

test("P23: a start can be deleted, whatever it is doing, and leaves no sandbox", async () => {
  const conversationId = "0198c0de-0000-7000-8000-00000000dead";
  const task = await v1.start({ ...hello, conversation_id: conversationId });
  expect((await server.call("DELETE", `/api/v1/app-conversations/${conversationId}`)).json).toEqual({
    success: true,
  });
  expect((await server.call("GET", `/api/v1/app-conversations/start-tasks?ids=${task.id}`)).json).toEqual([
    null,
  ]);
  expect((await server.call("GET", `/api/v1/sandboxes?id=${task.sandbox_id}`)).json).toEqual([null]);
  expect(await v1.get([conversationId])).toEqual([null]);
});

test("P22: a streamed start answers at once, tells of every step and is one JSON list", async () => {
  const reply = await fetch(`${server.url}/api/v1/app-conversations/stream-start`, {
    method: "POST",
    headers: { "X-Session-API-Key": server.key, "Content-Type": "application/json" },
    body: JSON.stringify(hello),
  });
  let text = "";
  let lastMs = performance.now();
  let longestMs = 0;
  for await (const chunk of reply.body!) {
    longestMs = Math.max(longestMs, performance.now() - lastMs);
    lastMs = performance.now();
    text += Buffer.from(chunk).toString("utf8");
  }
  const statuses = (JSON.parse(text) as AppConversationStartTask[]).map(({ status }) => status);
  expect([...new Set(statuses)]).toEqual([
    "WORKING",
    "WAITING_FOR_SANDBOX",
    "PREPARING_REPOSITORY",
    "RUNNING_SETUP_SCRIPT",
    "SETTING_UP_GIT_HOOKS",
    "SETTING_UP_SKILLS",
    "STARTING_CONVERSATION",
    "READY",
  ]);
  expect(longestMs).toBeLessThan(60_000);
});

async function untilStep(taskId: string, status: string): Promise<void> {
  await until(async () => {
    const { json } = await server.call("GET", `/api/v1/app-conversations/start-tasks?ids=${taskId}`);
    return (json as AppConversationStartTask[])[0]?.status === status;
  });
}

async function queue(address: string, text: string): Promise<void> {
  const reply = await server.call("POST", `/api/v1/conversations/${address}/pending-messages`, {
    content: [{ type: "text", text }],
  });
  expect(reply).toMatchObject({ status: 201, json: { queued: true } });
}

async function userTexts(conversationId: string): Promise<string[]> {
  const { json } = await server.call(
    "GET",
    `/api/v1/conversation/${conversationId}/events/search?kind__eq=MessageEvent`,
  );
  const { items } = json as { items: { source: string; llm_message: { content: { text: string }[] } }[] };
  return items
    .filter(({ source }) => source === "user")
    .map(({ llm_message }) => llm_message.content[0]!.text);
}

function readLog(project: string): string[] {
  try {
    return readFileSync(join(project, "setup.log"), "utf8").trim().split("\n");
  } catch {
    // Not begun yet.
    return [];
  }
}
