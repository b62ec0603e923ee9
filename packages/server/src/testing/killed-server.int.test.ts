import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ConvokeClient } from "@convoke/client";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { readIfThere } from "../lib/read-if-there.ts";
import { checkLeaksAfterEach } from "./check-leaks.ts";
import type { Script } from "./scripted-model/script.ts";
import { startScriptedModel } from "./scripted-model/scripted-model-server.ts";
import { ServerProcess } from "./server-process.ts";

checkLeaksAfterEach();

const id = "22222222-2222-4222-8222-222222222222";

test("P2, P6, P14, B13: kill -9 in a long command: its processes die, the run continues, and names the unknown outcome", async () => {
  await using place = await openPlace({
    turns: [
      { tool_calls: [terminal("sleep 301 & echo began >> side.log; sleep 302; echo ended >> side.log")] },
      { tool_calls: [{ name: "finish", arguments: { message: "done" } }] },
    ],
  });
  await using first = await ServerProcess.start({ dataDir: place.dataDir });
  await startConversation(first.client, place);
  // The shell and both of its commands: the second starts only after the log is written.
  await until(async () => (await readIfThere(join(place.workspace, "side.log"))) === "began\n");
  await until(async () => (await markedBy(first.pid)).length >= 3);
  await first.kill();
  await using second = await ServerProcess.start({ dataDir: place.dataDir, port: first.port });
  // The promise is 5 s, which the nightly cycles of kills check; a machine that runs other suites gets far more time.
  await until(async () => (await second.client.getConversation(id)).execution_status === "finished");
  await until(async () => (await markedBy(first.pid)).length === 0);
  expect(await readIfThere(join(place.workspace, "side.log"))).toBe("began\n");
  const { items } = await second.client.searchEvents(id, { kind: "AgentErrorEvent" });
  expect(items).toMatchObject([
    { tool_name: "terminal", error: expect.stringContaining("unknown") as string },
  ]);
});

test("P2, P27: kill -9 with a second server on the folder: that one continues the run by itself", async () => {
  await using place = await openPlace({
    turns: [
      { tool_calls: [terminal("echo began >> side.log; sleep 303")] },
      { tool_calls: [{ name: "finish", arguments: { message: "done" } }] },
    ],
  });
  await using first = await ServerProcess.start({ dataDir: place.dataDir });
  await using second = await ServerProcess.start({ dataDir: place.dataDir });
  await startConversation(first.client, place);
  await until(async () => (await readIfThere(join(place.workspace, "side.log"))) !== null);
  // More than one check of the second server: it leaves conversations with a living owner alone.
  await sleep(1_500);
  expect(await first.client.countEvents(id, { kind: "AgentErrorEvent" })).toBe(0);
  await first.kill();
  // Read from the list, which loads nothing.
  await until(async () => {
    const { items } = await second.client.searchConversations({ status: "finished" });
    return items.length === 1;
  });
  expect(await second.client.countEvents(id, { kind: "AgentErrorEvent" })).toBe(1);
});

test("P2: a server that was frozen for seconds, in a tool and in a model call, continues as before", async () => {
  await using place = await openPlace({
    turns: [
      { tool_calls: [terminal("echo began >> side.log; sleep 1; echo ended >> side.log")] },
      { delay_ms: 1_000, tool_calls: [{ name: "finish", arguments: { message: "done" } }] },
    ],
  });
  await using server = await ServerProcess.start({ dataDir: place.dataDir });
  await startConversation(server.client, place);
  await until(async () => (await readIfThere(join(place.workspace, "side.log"))) !== null);
  await freeze(server);
  await until(async () => (await server.client.countEvents(id, { kind: "ObservationEvent" })) === 1);
  await freeze(server);
  await until(async () => (await server.client.getConversation(id)).execution_status === "finished");
  expect(await readIfThere(join(place.workspace, "side.log"))).toBe("began\nended\n");
  expect(await server.client.countEvents(id, { kind: "AgentErrorEvent" })).toBe(0);
});

async function freeze(server: ServerProcess): Promise<void> {
  server.signal("SIGSTOP");
  await sleep(3_000);
  server.signal("SIGCONT");
}

function terminal(command: string) {
  return { name: "terminal", arguments: { command } };
}

type Place = { readonly dataDir: string; readonly workspace: string; readonly modelUrl: string };

async function openPlace(script: Script): Promise<Place & AsyncDisposable> {
  await using scope = new AsyncDisposableStack();
  const folder = scope.use(await openTemporaryDirectory());
  const workspace = join(folder.path, "work");
  await mkdir(workspace);
  const model = scope.use(await startScriptedModel({ script }));
  const owned = scope.move();
  return {
    dataDir: join(folder.path, "data"),
    workspace,
    modelUrl: model.url,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function startConversation(client: ConvokeClient, { workspace, modelUrl }: Place): Promise<void> {
  await client.startConversation({
    conversation_id: id,
    agent: {
      kind: "Agent",
      llm: { model: "openai/scripted", base_url: `${modelUrl}/v1`, api_key: "llm-key" },
      tools: [{ name: "terminal" }],
    },
    workspace: { kind: "LocalWorkspace", working_dir: workspace },
    initial_message: { content: [{ type: "text", text: "Work." }], run: true },
  });
}

/** Living processes that a server's tools started. */
async function markedBy(serverPid: number): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const marked = await Promise.all(
    pids.map(async (pid) => {
      // A process that ends meanwhile, or belongs to another user, counts as gone.
      const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      return environment.includes(`CONVOKE_OWNER=convoke.${serverPid}.`) ? [pid] : [];
    }),
  );
  return marked.flat();
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + 90_000;
  while (!(await isSo())) {
    if (performance.now() > deadlineMs) throw new Error("It did not happen within 90 s.");
    await sleep(20);
  }
}
