import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { findSteadyPort } from "../../packages/server/src/testing/steady-port.ts";
import { Connections } from "./connections.ts";
import type { Peer } from "./peer.ts";
import { makePeerFolder, PeerProcess, timeTurn, timeTurns } from "./peer-process.ts";
import { peerVersions, preparePackage } from "./prepare-packages.ts";

const startLimitMs = 120_000;
const model = { providerID: "scripted", modelID: "scripted" };

/** `opencode serve` with a home of its own. Disposing it ends it and removes the folder. */
export class Opencode implements Peer, AsyncDisposable {
  readonly name = `opencode ${peerVersions.opencode}`;
  /** From the start of the process to its first answer, with nothing stored yet. */
  readonly startMs: number;
  readonly #process: PeerProcess;
  readonly #connections: Connections;

  private constructor(process: PeerProcess, connections: Connections, startMs: number) {
    this.#process = process;
    this.#connections = connections;
    this.startMs = startMs;
  }

  static async start(modelUrl: string): Promise<Opencode> {
    const program = preparePackage("opencode");
    const folder = makePeerFolder();
    const port = await findSteadyPort();
    const startedAt = performance.now();
    const child = spawn(program, ["serve", "--hostname", "127.0.0.1", "--port", `${port}`], {
      cwd: folder.workDir,
      stdio: ["ignore", "pipe", "ignore"],
      env: {
        PATH: process.env["PATH"],
        HOME: folder.home,
        // What it would fetch from elsewhere would be measured too.
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_MODELS_FETCH: "1",
        OPENCODE_CONFIG_CONTENT: JSON.stringify(configOf(modelUrl)),
      },
    });
    const peer = new PeerProcess(child, folder);
    const connections = new Connections(`http://127.0.0.1:${port}`);
    try {
      await untilListens(child);
      await connections.ask("GET", "/global/health");
    } catch (error) {
      await peer[Symbol.asyncDispose]();
      throw error;
    }
    return new Opencode(peer, connections, performance.now() - startedAt);
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
    return await timeTurn(
      () => this.create(),
      (id) => this.#message(id, "Go.", false),
    );
  }

  async turns(count: number): Promise<number> {
    return await timeTurns(count, () => this.turn());
  }

  residentMegabytes(): number {
    return this.#process.residentMegabytes();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connections[Symbol.dispose]();
    await this.#process[Symbol.asyncDispose]();
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
