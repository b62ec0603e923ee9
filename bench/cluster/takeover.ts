import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startScriptedModel } from "../../packages/server/src/testing/scripted-model/scripted-model-server.ts";
import { ServerProcess } from "../../packages/server/src/testing/server-process.ts";
import type { BenchResult } from "../bench-result.ts";
import { benchId } from "../node/open-bench-node.ts";

const conversationCount = 1000;

/** Time from the kill of a server until all its runs have called the model again on other nodes. */
export async function measureTakeover(databaseUrl: string): Promise<BenchResult[]> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-bench-"));
  await using model = await startScriptedModel({ script: { turns: [{ hang: true }] } });
  await using first = await ServerProcess.start({ dataDir: join(folder.path, "one"), databaseUrl });
  await using second = await ServerProcess.start({ dataDir: join(folder.path, "two"), databaseUrl });
  for (let from = 0; from < conversationCount; from += 20)
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        await first.client.startConversation({
          conversation_id: benchId(from + index),
          agent: {
            kind: "Agent",
            llm: { model: "openai/scripted", base_url: `${model.url}/v1`, api_key: "llm-key" },
            tools: [],
          },
          workspace: { kind: "LocalWorkspace", working_dir: folder.path },
          initial_message: { content: [{ type: "text", text: "Work." }], run: true },
        });
      }),
    );
  const untilAsked = async (count: number): Promise<void> => {
    while (model.requests.length < count) await sleep(20);
  };
  await untilAsked(conversationCount);
  const startedAt = performance.now();
  await first.kill();
  await untilAsked(conversationCount + 1);
  const firstSeconds = (performance.now() - startedAt) / 1000;
  await untilAsked(2 * conversationCount);
  const seconds = (performance.now() - startedAt) / 1000;
  await second.kill();
  return [
    {
      id: "cluster.takeover",
      name: `${conversationCount} runs of a server that was killed go on at another, the last of them`,
      value: seconds,
      unit: "s",
      baseline: { name: "the first of them", value: firstSeconds },
      ratio: seconds / firstSeconds,
    },
  ];
}
