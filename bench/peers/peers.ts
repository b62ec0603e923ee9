import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Script } from "../../packages/server/src/testing/scripted-model/script.ts";
import { findPython } from "../../test/clients/python/find-python.ts";
import { preparePython } from "../../test/clients/python/python-environment.ts";
import type { BenchResult } from "../bench-result.ts";
import { BuiltServer } from "../node/built-server.ts";
import { AgentServerClient } from "./agent-server-client.ts";
import { Codex } from "./codex.ts";
import { compare, result } from "./compare.ts";
import { Opencode } from "./opencode.ts";
import { operationsOfAll, operationsOfReference } from "./operations.ts";
import type { Peer } from "./peer.ts";
import { preparePackage } from "./prepare-packages.ts";
import { PythonServer } from "./python-server.ts";

const parts = {
  reference: besideReference,
  opencode: async (modelUrl: string) => await beside("opencode", () => Opencode.start(modelUrl), modelUrl),
  codex: async (modelUrl: string) => await beside("codex", () => Codex.start(modelUrl), modelUrl),
} as const;

/**
 * Compares Convoke with each other server in the same run: both run from beginning to end, and each operation alternates, so that the
 * machine's noise affects both. A server that is not available here has no numbers, and the reason is printed.
 */
export async function run(only?: string): Promise<BenchResult[]> {
  const names = only === undefined ? Object.keys(parts) : [only];
  const results: BenchResult[] = [];
  for (const name of names) {
    const measure = parts[name as keyof typeof parts];
    if (measure === undefined) {
      throw new Error(`There is no part ${name}; there are ${Object.keys(parts).join(", ")}`);
    }
    const thread = new Worker(new URL("../conversations/model-thread.ts", import.meta.url), {
      workerData: { turns: [{ text: "Done." }], loop: true } satisfies Script,
    });
    try {
      const [modelUrl] = (await once(thread, "message")) as [string];
      results.push(...(await measure(modelUrl)));
    } finally {
      await thread.terminate();
    }
  }
  return results;
}

async function besideReference(modelUrl: string): Promise<BenchResult[]> {
  const python = prepared("the reference", () =>
    preparePython(findPython(process.env), { more: join(import.meta.dirname, "requirements.txt") }),
  );
  if (python === null) return [];
  await using theirs = await PythonServer.start(python);
  await using ours = await BuiltServer.start();
  const startMs = await timeStart(ours);
  using own = new AgentServerClient("Convoke", ours, modelUrl);
  using other = new AgentServerClient("the reference, agent-server 1.58.2", theirs, modelUrl);
  return [
    result("peers.start", "start of the process to the first answer", "ms", [startMs, theirs.startMs], other),
    ...(await compare("peers.", operationsOfReference, [own, other])),
    memory("peers.", own, other),
  ];
}

/** A server of another protocol, started fresh with a fresh Convoke. */
async function beside(
  name: "opencode" | "codex",
  start: () => Promise<Peer & AsyncDisposable & { readonly startMs: number }>,
  modelUrl: string,
): Promise<BenchResult[]> {
  if (prepared(name, () => preparePackage(name)) === null) return [];
  const prefix = `${name}.`;
  await using theirs = await start();
  await using ours = await BuiltServer.start();
  const startMs = await timeStart(ours);
  using own = new AgentServerClient("Convoke", ours, modelUrl);
  const firstTurn = [await own.turn(), await theirs.turn()] as const;
  return [
    result(
      `${prefix}start`,
      "start of the process to the first answer",
      "ms",
      [startMs, theirs.startMs],
      theirs,
    ),
    result(`${prefix}first-turn`, "the first turn of a process", "ms", firstTurn, theirs),
    ...(await compare(prefix, operationsOfAll, [own, theirs])),
    memory(prefix, own, theirs),
  ];
}

function memory(prefix: string, own: Peer, other: Peer): BenchResult {
  const values = [own.residentMegabytes(), other.residentMegabytes()] as const;
  return result(`${prefix}memory`, "resident memory after all of this", "MB", values, other);
}

async function timeStart({ url, startedAtMs }: BuiltServer): Promise<number> {
  const reply = await fetch(`${url}/health`);
  if (!reply.ok) throw new Error(`/health answered ${reply.status}`);
  return performance.now() - startedAtMs;
}

/** Null when it is not available here; the reason has been printed. */
function prepared(name: string, prepare: () => string): string | null {
  try {
    return prepare();
  } catch (error) {
    console.log(`Not measured beside ${name}. ${(error as Error).message}`);
    return null;
  }
}

if (import.meta.main) console.table(await run(process.argv[2]));
