import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { CDPSession } from "playwright-core";
import { findChromium } from "../../packages/tool-host/src/tools/browser/find-chromium.ts";
import { BuiltServer } from "../node/built-server.ts";
import { launchBrowser } from "./launch-browser.ts";
import { coldPage } from "./page-client.ts";
import { createConversation, readStatus, say } from "./server-calls.ts";
import { StreamingModel } from "./streaming-model.ts";

/**
 * `npx node bench/web/hour.ts --minutes 60 --faster 10`: what an hour of streaming at 50 tokens per second leaves in the page, played
 * faster. One answer is a minute long. Exits with 1 when the page holds more at its end than after its first third.
 */
const { values } = parseArgs({
  options: { minutes: { type: "string", default: "60" }, faster: { type: "string", default: "10" } },
});
const minutes = Number(values.minutes);
const tokensPerSecond = 50 * Number(values.faster);
/** Shown text grows with the conversation: as far as a person can scroll without a request. */
const allowedGrowth = { megabytes: 3, nodes: 1.2 };
const answerLimitMs = 300_000;

type Held = { readonly heapMegabytes: number; readonly nodes: number };

const program = findChromium(process.env);
if (program === null) throw new Error("no Chromium here");
await using model = await StreamingModel.start({ tokensPerSecond, tokensPerAnswer: 50 * 60 });
await using server = await BuiltServer.start({ hasPage: true });
const browser = await launchBrowser(program);
try {
  const id = await createConversation(server, model.url, "An hour");
  const page = await coldPage({
    name: "Convoke",
    browser,
    addressOf: (of) => `${server.url}/c/${of}`,
    storageState: undefined,
  });
  await page.goto(`${server.url}/c/${id}`);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const held: Held[] = [];
  for (let minute = 1; minute <= minutes; minute += 1) {
    await say(server, id, `Tell me everything, part ${minute}`, true);
    await untilAnswered(id);
    const now = await heldBy(session);
    held.push(now);
    console.log(
      `minute ${minute}: ${model.tokens} tokens, heap ${now.heapMegabytes.toFixed(1)} MB, ${now.nodes} nodes, server ${server.residentMegabytes().toFixed(0)} MB`,
    );
  }
  const third = Math.ceil(held.length / 3);
  const [early, late] = [middleOf(held.slice(0, third)), middleOf(held.slice(-third))];
  const isFlat =
    late.heapMegabytes <= early.heapMegabytes + allowedGrowth.megabytes &&
    late.nodes <= early.nodes * allowedGrowth.nodes;
  console.log(
    `in the middle ${early.heapMegabytes.toFixed(1)} MB and ${early.nodes} nodes in the first third, ` +
      `${late.heapMegabytes.toFixed(1)} MB and ${late.nodes} nodes in the last: ${isFlat ? "flat" : "not flat"}`,
  );
  process.exitCode = isFlat ? 0 : 1;
} finally {
  await browser.close();
}

async function untilAnswered(id: string): Promise<void> {
  const limit = performance.now() + answerLimitMs;
  for (;;) {
    const status = await readStatus(server, id);
    if (status === "finished" || status === "idle") return;
    if (status === "error" || performance.now() > limit) throw new Error(`An answer ended as ${status}.`);
    await sleep(100);
  }
}

async function heldBy(session: CDPSession): Promise<Held> {
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = (await session.send("Runtime.getHeapUsage")) as { usedSize: number };
  const { metrics } = (await session.send("Performance.getMetrics")) as {
    metrics: readonly { readonly name: string; readonly value: number }[];
  };
  const nodes = metrics.find(({ name }) => name === "Nodes")?.value ?? 0;
  return { heapMegabytes: usedSize / 1_000_000, nodes };
}

/** Medians, because what is shown while one answer ends does not stay. */
function middleOf(held: readonly Held[]): Held {
  return {
    heapMegabytes: median(held.map(({ heapMegabytes }) => heapMegabytes)),
    nodes: median(held.map(({ nodes }) => nodes)),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? 0;
}
