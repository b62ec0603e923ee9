import { spawn, type ChildProcess, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { findSteadyPort } from "../../packages/server/src/testing/steady-port.ts";
import { residentMegabytes } from "../node/resident-memory.ts";
import { Connections } from "./connections.ts";
import type { Peer } from "./peer.ts";
import { peerVersions, preparePackage } from "./prepare-packages.ts";

const startLimitMs = 120_000;
const model = { providerID: "scripted", modelID: "scripted" };

/** `opencode serve` with a home of its own. Disposing it ends it and removes the folder. */
export class Opencode implements Peer, AsyncDisposable {
  readonly name = `opencode ${peerVersions.opencode}`;
  /** From the start of the process to its first answer, with nothing stored yet. */
  readonly startMs: number;
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #connections: Connections;

  private constructor(child: ChildProcess, folder: string, connections: Connections, startMs: number) {
    this.#child = child;
    this.#folder = folder;
    this.#connections = connections;
    this.startMs = startMs;
  }

  static async start(modelUrl: string): Promise<Opencode> {
    const program = preparePackage("opencode");
    const folder = mkdtempSync(join(tmpdir(), "convoke-peer-"));
    const workDir = join(folder, "work");
    mkdirSync(workDir);
    const port = await findSteadyPort();
    const startedAt = performance.now();
    const child = spawn(program, ["serve", "--hostname", "127.0.0.1", "--port", `${port}`], {
      cwd: workDir,
      stdio: ["ignore", "pipe", "ignore"],
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        // What it would fetch from elsewhere would be measured too.
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_MODELS_FETCH: "1",
        OPENCODE_CONFIG_CONTENT: JSON.stringify(configOf(modelUrl)),
      },
    });
    const connections = new Connections(`http://127.0.0.1:${port}`);
    try {
      await untilListens(child);
      await connections.ask("GET", "/global/health");
    } catch (error) {
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
      throw error;
    }
    return new Opencode(child, folder, connections, performance.now() - startedAt);
  }

  async create(): Promise<{ readonly id: string; readonly ms: number }> {
    const { text, ms } = await this.#connections.ask("POST", "/session", {});
    const { id } = JSON.parse(text()) as { id: string };
    return { id, ms };
  }

  async send(id: string, text: string): Promise<number> {
    return await this.#message(id, text, true);
  }

  async fill(id: string, count: number, text: (at: number) => string): Promise<void> {
    for (let at = 0; at < count; at += 1) await this.send(id, text(at));
  }

  async page(id: string): Promise<number> {
    return await this.#list(`/session/${id}/message?limit=100`, 100);
  }

  async list(): Promise<number> {
    return await this.#list("/session?limit=20", 20);
  }

  /** The answer to a message comes at the end of its run. */
  async turn(): Promise<number> {
    const startedAt = performance.now();
    const { id } = await this.create();
    await this.#message(id, "Go.", false);
    return performance.now() - startedAt;
  }

  async turns(count: number): Promise<number> {
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: count }, () => this.turn()));
    return performance.now() - startedAt;
  }

  residentMegabytes(): number {
    return residentMegabytes(this.#child.pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connections[Symbol.dispose]();
    const ended = once(this.#child, "exit");
    // Nothing that it still writes is read again.
    if (this.#child.exitCode === null && this.#child.kill("SIGKILL")) await ended;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #message(id: string, text: string, isOnlyStored: boolean): Promise<number> {
    const body = { model, noReply: isOnlyStored, parts: [{ type: "text", text }] };
    return (await this.#connections.ask("POST", `/session/${id}/message`, body)).ms;
  }

  async #list(path: string, expected: number): Promise<number> {
    const { text, ms } = await this.#connections.ask("GET", path);
    const { length } = JSON.parse(text()) as unknown[];
    if (length !== expected) throw new Error(`${path} answered ${length} in the place of ${expected}.`);
    return ms;
  }
}

function configOf(modelUrl: string): object {
  const options = { baseURL: `${modelUrl}/v1`, apiKey: "bench-key" };
  const scripted = { npm: "@ai-sdk/openai-compatible", options, models: { scripted: { name: "Scripted" } } };
  return {
    share: "disabled",
    autoupdate: false,
    provider: { scripted },
    model: "scripted/scripted",
    small_model: "scripted/scripted",
  };
}

/** A request that comes earlier is taken by the system and never answered, so the line that tells is waited for. */
async function untilListens(child: ChildProcessByStdio<null, Readable, null>): Promise<void> {
  const lines = createInterface({ input: child.stdout });
  const signal = AbortSignal.timeout(startLimitMs);
  const ended = once(child, "exit", { signal }).then(([code]) => {
    throw new Error(`opencode ended with code ${code}.`);
  });
  const listens = (async (): Promise<void> => {
    for await (const line of lines) if (line.includes("listening on")) return;
  })();
  await Promise.race([listens, ended]);
}
