import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { openJournal } from "../../packages/server/src/journal/open-journal.ts";
import { sampleConversation } from "../../packages/server/src/journal/sample-events.ts";
import { buildCommand } from "../../scripts/build-command.ts";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import { benchId } from "../node/open-bench-node.ts";
import { residentMegabytes } from "../node/resident-memory.ts";

/** B1: from the start of the process to the first 200, Node's own start taken off; B2: memory of the idle server. */
export async function run(): Promise<BenchResult[]> {
  // Inside the checkout, so that the built command finds the packages that stay outside the bundle.
  const cache = resolve(root, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const buildDir = mkdtempSync(join(cache, "convoke-bench-"));
  const dataDir = mkdtempSync(join(tmpdir(), "convoke-bench-"));
  try {
    await buildCommand(root, buildDir);
    await seed(dataDir);
    const commands = {
      bundle: join(buildDir, "lib", "bin.js"),
      sources: resolve(root, "packages/cli/src/bin.ts"),
    };
    const times = { node: [] as number[], bundle: [] as number[], sources: [] as number[] };
    const memory: number[] = [];
    // Turn about, so that the machine's noise hits all.
    for (let round = 0; round <= roundCount; round += 1) {
      const measured = {
        node: await startNode(),
        bundle: await startServer(commands.bundle, dataDir),
        sources: await startServer(commands.sources, dataDir),
      };
      // The first round fills the caches of the file system.
      if (round === 0) continue;
      times.node.push(measured.node);
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
      toResult("B1.sources", "sources"),
      {
        id: "B2",
        name: "resident memory of the idle server, 2 s after its start: median",
        value: percentile(memory, 0.5),
        unit: "MB",
      },
    ];
  } finally {
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

/** Until Node runs the first line of a script and its output is here. */
async function startNode(): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, ["-e", "console.log(1)"], { stdio: ["ignore", "pipe", "inherit"] });
  await firstLine(child);
  const startMs = performance.now() - startedAt;
  await ended(child);
  return startMs;
}

async function startServer(command: string, dataDir: string) {
  const startedAt = performance.now();
  const args = [command, "serve", "--no-auth", "--json", "--port", "0", "--data-dir", dataDir];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const { url } = JSON.parse(await firstLine(child)) as { url: string };
    const reply = await fetch(`${url}/alive`);
    if (reply.status !== 200) throw new Error(`/alive answered ${reply.status}`);
    const startMs = performance.now() - startedAt;
    await sleep(2000);
    return { startMs, residentMegabytes: residentMegabytes(child.pid) };
  } finally {
    child.kill("SIGTERM");
    await ended(child);
  }
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
