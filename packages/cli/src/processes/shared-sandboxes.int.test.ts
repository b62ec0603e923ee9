import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AppConversation, AppConversationStartTask, SandboxInfo } from "@convoke/protocol";
import { startScriptedModel } from "@convoke/server/testing";
import { expect, test, vi } from "vitest";
import { TogetherCommand } from "../testing/together-command.ts";

const pollOptions = { timeout: 120_000, interval: 100 };

test("sandboxes are shown, used and ended through any process, and outlive the one that looks after them", async () => {
  await using model = await startScriptedModel({
    script: {
      turns: [
        { tool_calls: [{ name: "terminal", arguments: { command: "pwd > where.txt" } }] },
        { text: "Done." },
      ],
      loop: true,
    },
  });
  await using served = await TogetherCommand.start({ processes: 3, sandbox: "process" });
  /** The same question to each process. */
  const everywhere = async <Value>(ask: () => Promise<Value>): Promise<Value[]> => [
    await ask(),
    await ask(),
    await ask(),
  ];

  const { json: made, text } = await served.ask("POST", "/api/v1/sandboxes");
  const { id } = made as SandboxInfo;
  expect(id, text).toBeTypeOf("string");
  const find = async (): Promise<SandboxInfo | null> =>
    ((await served.ask("GET", `/api/v1/sandboxes?id=${id}`)).json as (SandboxInfo | null)[])[0] ?? null;
  for (const _ of [1, 2, 3])
    await vi.waitUntil(async () => (await find())?.status === "RUNNING", pollOptions);
  const [first, ...others] = await everywhere(find);
  for (const other of others) expect(other).toEqual(first);
  const command = { command: "echo here >> said.txt; cat said.txt" };
  const results = await everywhere(() =>
    served.ask("POST", `/sandboxes/${id}/api/bash/execute_bash_command`, command),
  );
  expect(results.map(({ json }) => (json as { stdout: string }).stdout)).toEqual([
    "here\n",
    "here\nhere\n",
    "here\nhere\nhere\n",
  ]);
  expect((await served.ask("GET", `/sandboxes/${id}/api/conversations/count`)).json).toBe(0);

  // A conversation in a sandbox of its own, started and asked for anywhere.
  const route = { llm_model: "openai/scripted", llm_api_key: "k", llm_base_url: `${model.url}/v1` };
  expect((await served.ask("POST", "/api/settings", route)).status).toBe(200);
  const start = { initial_message: { content: [{ type: "text", text: "Work." }] } };
  const tasks = await everywhere(() => served.ask("POST", "/api/v1/app-conversations", start));
  for (const { json, text: refusal } of tasks) {
    const { id: taskId } = json as { id?: string };
    expect(taskId, refusal).toBeTypeOf("string");
    const task = await vi.waitUntil(async () => {
      const { json } = await served.ask("GET", `/api/v1/app-conversations/start-tasks?ids=${taskId}`);
      const [found] = json as [AppConversationStartTask];
      if (found.status === "ERROR") throw new Error(found.detail ?? "");
      return found.status === "READY" ? found : null;
    }, pollOptions);
    await vi.waitUntil(async () => {
      const { json } = await served.ask("GET", `/api/v1/app-conversations?ids=${task.app_conversation_id}`);
      return (json as (AppConversation | null)[])[0]?.execution_status === "finished";
    }, pollOptions);
    expect(existsSync(join(served.folder, "data", "sandboxes", task.sandbox_id!))).toBe(true);
  }

  // The first has them; the process that is started again in its place takes them up.
  process.kill(served.processes()[0]!, "SIGKILL");
  await expect
    .poll(
      async () =>
        (await served.ask("POST", `/sandboxes/${id}/api/bash/execute_bash_command`, command)).status,
      pollOptions,
    )
    .toBe(200);
  await expect.poll(() => served.processes().length, pollOptions).toBe(3);
  for (const _ of [1, 2, 3])
    await vi.waitUntil(async () => (await find())?.status === "RUNNING", pollOptions);

  const { json: all } = await served.ask("GET", "/api/v1/sandboxes/search");
  for (const { id: one } of (all as { items: SandboxInfo[] }).items) {
    expect((await served.ask("DELETE", `/api/v1/sandboxes/${one}`)).status).toBe(200);
  }
  for (const left of await everywhere(() => served.ask("GET", "/api/v1/sandboxes/search")))
    expect((left.json as { items: unknown[] }).items).toEqual([]);
});
