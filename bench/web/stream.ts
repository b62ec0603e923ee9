import { setTimeout as sleep } from "node:timers/promises";
import type { BenchResult } from "../bench-result.ts";
import type { BuiltServer } from "../node/built-server.ts";
import { coldPage, type PageClient } from "./page-client.ts";
import { traced } from "./page-trace.ts";
import { createConversation, say } from "./server-calls.ts";
import { StreamingModel } from "./streaming-model.ts";

const seconds = 8;
const openAtOnce = 4;

/** U11: a model that continues an answer of 20 KB, in one conversation and in four open ones at once. */
export async function measureStream(
  server: BuiltServer,
  ours: PageClient,
  other: PageClient | null,
): Promise<BenchResult[]> {
  const one = await streamIn(server, ours, 1);
  const beside = other === null ? null : await streamIn(server, other, 1);
  const four = await streamIn(server, ours, openAtOnce);
  const unit = "ms/s";
  const baseline =
    other === null || beside === null
      ? {}
      : { baseline: { name: other.name, value: beside.cpuMs }, ratio: one.cpuMs / beside.cpuMs };
  return [
    {
      id: "U11",
      name: "50 tokens a second into 20 KB: processor time a second",
      value: one.cpuMs,
      unit,
      ...baseline,
    },
    { id: "U11.task", name: "the same: longest task, processor time", value: one.taskMs, unit: "ms" },
    { id: "U11.tokens", name: "the same: tokens a second that came", value: one.tokens, unit: "/s" },
    { id: "U11.four", name: "the same in four open conversations, all together", value: four.cpuMs, unit },
  ];
}

async function streamIn(server: BuiltServer, client: PageClient, count: number) {
  await using model = await StreamingModel.start();
  const pages = [];
  for (let number = 0; number < count; number += 1) {
    const id = await createConversation(server, model.url, `Stream ${number}`);
    const page = await coldPage(client);
    // A client that connects after the answer began misses its beginning.
    const isFollowing = page
      .waitForEvent("websocket", (socket) => socket.url().includes(`/sockets/events/${id}`))
      .then((socket) => socket.waitForEvent("framereceived"));
    await page.goto(client.addressOf(id));
    await isFollowing;
    await say(server, id, "Tell me everything", true);
    await page.getByText("The beginning of it.").first().waitFor();
    await page
      .getByText(/word\d word\d word\d/)
      .first()
      .waitFor();
    pages.push({ id, page });
  }
  const before = model.tokens;
  const work = await traced(client.browser, async () => {
    await sleep(seconds * 1_000);
    return model.tokens - before;
  });
  for (const { page } of pages) await page.context().close();
  return { cpuMs: work.cpuMs / seconds, taskMs: work.longestTaskMs, tokens: work.result / seconds / count };
}
