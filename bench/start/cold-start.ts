import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { ConvokeClient } from "@convoke/client";
import { openJournal } from "../../packages/server/src/journal/open-journal.ts";
import { sampleConversation } from "../../packages/server/src/journal/sample-events.ts";
import type { Script } from "../../packages/server/src/testing/scripted-model/script.ts";
import { buildCommand } from "../../scripts/build-command.ts";
import { compileProgram } from "../../scripts/compile-program.ts";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import { benchId } from "../node/open-bench-node.ts";
import { residentMegabytes } from "../node/resident-memory.ts";

/**
 * B1: time from the start of the process to the first 200, minus Node's own start; B1.first: the same for the first start after an
 * installation, with a new home and data folder; B2: memory of the idle server; B16.first: the first turn of a process, 2 s later.
 */
export async function run(): Promise<BenchResult[]> {
  // Inside the checkout, so that the built command finds the packages outside the bundle.
  const cache = resolve(root, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const buildDir = mkdtempSync(join(cache, "convoke-bench-"));
  const dataDir = mkdtempSync(join(tmpdir(), "convoke-bench-"));
  const model = new Worker(new URL("../conversations/model-thread.ts", import.meta.url), {
    workerData: { turns: [{ text: "Done." }], loop: true } satisfies Script,
  });
  // The model's thread is ready long before the rest is.
  const modelReady = once(model, "message") as Promise<[string]>;
  try {
    await buildCommand(root, buildDir);
    await compileProgram(join(buildDir, "lib"));
    await seed(dataDir);
    const [modelUrl] = await modelReady;
    const commands = {
      bundle: join(buildDir, "lib", "bin.js"),
      sources: resolve(root, "packages/cli/src/bin.ts"),
    };
    const times = {
      node: [] as number[],
      first: [] as number[],
      bundle: [] as number[],
      sources: [] as number[],
    };
    const memory: number[] = [];
    const turns: number[] = [];
    // Alternating, so that the machine's noise affects all.
    for (let round = 0; round <= roundCount; round += 1) {
      const measured = {
        node: await startNode(),
        first: await startFirst(commands.bundle, modelUrl),
        bundle: await startServer(commands.bundle, dataDir),
        sources: await startServer(commands.sources, dataDir),
      };
      // The first round fills the file system's caches.
      if (round === 0) continue;
      times.node.push(measured.node);
      times.first.push(measured.first.startMs);
      turns.push(measured.first.turnMs);
      times.bundle.push(measured.bundle.startMs);
      times.sources.push(measured.sources.startMs);
      memory.push(measured.bundle.residentMegabytes);
    }
    const nodeMs = percentile(times.node, 0.5);
    const toResult = (id: string, what: "bundle" | "sources"): BenchResult => ({
      id,
      name: `start to first 200 with ${conversationCount} conversations, ${what}, beyond Node's own start: median`,
      value: percentile(times[what], 0.5) - nodeMs,
      unit: "ms",
      baseline: { name: "Node itself: start to first output", value: nodeMs },
    });
    return [
      toResult("B1", "bundle"),
      {
        id: "B1.first",
        name: "the first start after an installation, new home and data folder, the same: median",
        value: percentile(times.first, 0.5) - nodeMs,
        unit: "ms",
      },
      {
        id: "B16.first",
        name: "first turn of a process, 2 s after its start, created with a message to its end: median",
        value: percentile(turns, 0.5),
        unit: "ms",
      },
      toResult("B1.sources", "sources"),
      {
        id: "B2",
        name: "resident memory of the idle server, 2 s after its start: median",
        value: percentile(memory, 0.5),
        unit: "MB",
      },
    ];
  } finally {
    await model.terminate();
    rmSync(buildDir, { recursive: true, force: true });
    rmSync(dataDir, { recursive: true, force: true });
  }
}

const root = resolve(import.meta.dirname, "../..");
const conversationCount = 100_000;
const roundCount = 9;

async function seed(dataDir: string): Promise<void> {
  await using journal = await openJournal({ dataDir });
  const config = JSON.stringify({ agent: { llm: { model: "openai/bench" } }, filler: "x".repeat(800) });
  for (let number = 0; number < conversationCount; number += 1000) {
    await Promise.all(
      Array.from({ length: 1000 }, (_, index) =>
        journal.createConversation(sampleConversation(benchId(number + index), { config })),
      ),
    );
  }
}

/** Until Node runs the first line of a script and its output has arrived. */
async function startNode(): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, ["-e", "console.log(1)"], { stdio: ["ignore", "pipe", "inherit"] });
  await firstLine(child);
  const startMs = performance.now() - startedAt;
  await ended(child);
  return startMs;
}

/** Like a fresh installation of the package. */
async function startFirst(command: string, modelUrl: string) {
  const home = mkdtempSync(join(tmpdir(), "convoke-bench-"));
  try {
    let turnMs = 0;
    const { startMs } = await startServer(command, join(home, "data"), home, async (url) => {
      turnMs = await playTurn(url, { modelUrl, workDir: join(home, "work") });
    });
    return { startMs, turnMs };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function startServer(
  command: string,
  dataDir: string,
  home = process.env["HOME"],
  afterwards: (url: string) => Promise<void> = async () => {},
) {
  const startedAt = performance.now();
  const args = [command, "serve", "--no-auth", "--json", "--port", "0", "--data-dir", dataDir];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, HOME: home },
  });
  try {
    const { url } = JSON.parse(await firstLine(child)) as { url: string };
    const reply = await fetch(`${url}/alive`);
    if (reply.status !== 200) throw new Error(`/alive answered ${reply.status}`);
    const startMs = performance.now() - startedAt;
    await sleep(2000);
    const resident = residentMegabytes(child.pid);
    await afterwards(url);
    return { startMs, residentMegabytes: resident };
  } finally {
    child.kill("SIGTERM");
    await ended(child);
  }
}

async function playTurn(
  url: string,
  { modelUrl, workDir }: { modelUrl: string; workDir: string },
): Promise<number> {
  const client = new ConvokeClient({ baseUrl: url });
  const startedAt = performance.now();
  const { id } = await client.call("POST /api/conversations", {
    body: {
      agent: { llm: { model: "openai/bench", base_url: `${modelUrl}/v1`, api_key: "none" }, tools: [] },
      workspace: { working_dir: workDir },
      initial_message: { content: [{ text: "Begin." }] },
    },
  });
  for await (const item of client.follow(id, { afterEventId: null })) {
    if (item.type === "event" && item.event.kind === "MessageEvent" && item.event.source === "agent") break;
  }
  return performance.now() - startedAt;
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("The process has no output.");
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error("The process said nothing.");
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

if (import.meta.main) console.table(await run());
