import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ConvokeClient } from "@convoke/client";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { checkLeaksAfterEach } from "./check-leaks.ts";
import { startScriptedModel } from "./scripted-model/scripted-model-server.ts";
import { ServerProcess } from "./server-process.ts";
import { until } from "./until.ts";

checkLeaksAfterEach();

const blocking = "22222222-2222-4222-8222-222222222222";
const innocent = "33333333-3333-4333-8333-333333333333";
const limits = { standstillSeconds: 1 };

test("P2: a server whose event loop is blocked ends itself, and after the second time starts without the running conversation", async () => {
  await using place = await openPlace();
  const { dataDir } = place;
  await using first = await ServerProcess.start({ dataDir, ...limits });
  await place.start(first.client, innocent, "Work for long.");
  // The reply to the blocking request may be lost with the server.
  place.start(first.client, blocking, "Stand still.").catch(() => {});
  expect(await first.ended).toBe("SIGKILL");
  expect(JSON.parse(first.complaint.trim().split("\n").at(-1)!)).toMatchObject({
    level: 60,
    conversation: blocking,
    conversations: expect.arrayContaining([blocking, innocent]) as string[],
    msg: expect.stringContaining("stood still") as string,
  });

  await using second = await ServerProcess.start({ dataDir, port: first.port, ...limits });
  expect(await second.ended).toBe("SIGKILL");

  await using third = await ServerProcess.start({ dataDir, port: first.port, ...limits });
  await until(async () => (await third.client.getConversation(blocking)).execution_status === "error");
  const { items } = await third.client.searchEvents(blocking, { kind: "ConversationErrorEvent" });
  expect(items).toMatchObject([
    { code: "ServerStoodStill", detail: expect.stringContaining("call run") as string },
  ]);
  await until(async () => (await third.client.getConversation(innocent)).execution_status === "finished");
  // A client's request tries it again, because the cause may be gone.
  await third.client.sendMessage(innocent, { content: [{ type: "text", text: "Again." }], run: true });
  expect(third.hasEnded).toBe(false);
});

test("P2: a server that is stopped for longer than the watchdog's timeout is not ended", async () => {
  await using place = await openPlace();
  await using server = await ServerProcess.start({ dataDir: place.dataDir, ...limits });
  server.signal("SIGSTOP");
  await sleep(3_000);
  server.signal("SIGCONT");
  await place.start(server.client, innocent, "Work for long.");
  await until(async () => (await server.client.getConversation(innocent)).execution_status === "finished");
  expect(server.hasEnded).toBe(false);
});

async function openPlace() {
  await using scope = new AsyncDisposableStack();
  const folder = scope.use(await openTemporaryDirectory());
  const workspace = join(folder.path, "work");
  await mkdir(workspace);
  const turns = [{ delay_ms: 3_000, text: "Done." }];
  const model = scope.use(await startScriptedModel({ script: { turns, loop: true } }));
  const owned = scope.move();
  return {
    dataDir: join(folder.path, "data"),
    start: async (client: ConvokeClient, id: string, text: string): Promise<void> => {
      await client.startConversation({
        conversation_id: id,
        agent: {
          kind: "Agent",
          llm: { model: "openai/scripted", base_url: `${model.url}/v1`, api_key: "llm-key" },
        },
        workspace: { kind: "LocalWorkspace", working_dir: workspace },
        initial_message: { content: [{ type: "text", text }], run: true },
      });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
