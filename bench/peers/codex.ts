import { spawn, type ChildProcessByStdio } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { Peer } from "./peer.ts";
import { makePeerFolder, PeerProcess, timeTurn, timeTurns, type PeerFolder } from "./peer-process.ts";
import { peerVersions, preparePackage } from "./prepare-packages.ts";

type Child = ChildProcessByStdio<Writable, Readable, null>;
type Message = {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly threadId?: string };
  readonly result?: unknown;
  readonly error?: { readonly message: string };
};
type Waiting = { readonly resolve: (result: unknown) => void; readonly reject: (error: Error) => void };

/** `codex app-server` with a home of its own, over its standard input and output. Disposing it ends it and removes the folder. */
export class Codex implements Peer, AsyncDisposable {
  readonly name = `codex ${peerVersions.codex}`;
  /** From the start of the process to its first answer, with nothing stored yet. */
  startMs = Number.NaN;
  readonly #child: Child;
  readonly #process: PeerProcess;
  readonly #workDir: string;
  readonly #answers = new Map<number, Waiting>();
  readonly #turns = new Map<string, () => void>();
  #asked = 0;

  private constructor(child: Child, folder: PeerFolder) {
    this.#child = child;
    this.#process = new PeerProcess(child, folder);
    this.#workDir = folder.workDir;
    createInterface({ input: child.stdout }).on("line", (line) => this.#take(JSON.parse(line) as Message));
    child.on("exit", (code) => {
      for (const { reject } of this.#answers.values()) reject(new Error(`codex ended with code ${code}.`));
    });
  }

  static async start(modelUrl: string): Promise<Codex> {
    const program = preparePackage("codex");
    const folder = makePeerFolder();
    writeFileSync(join(folder.home, "config.toml"), configOf(modelUrl));
    const startedAt = performance.now();
    const child = spawn(program, ["app-server"], {
      cwd: folder.workDir,
      stdio: ["pipe", "pipe", "ignore"],
      env: { PATH: process.env["PATH"], HOME: folder.home, CODEX_HOME: folder.home },
    });
    const codex = new Codex(child, folder);
    const clientInfo = { name: "bench", title: "bench", version: "1" };
    await codex.#ask("initialize", { clientInfo, capabilities: { experimentalApi: true } });
    codex.startMs = performance.now() - startedAt;
    child.stdin.write(`${JSON.stringify({ method: "initialized" })}\n`);
    return codex;
  }

  async create(): Promise<{ readonly id: string; readonly ms: number }> {
    const startedAt = performance.now();
    const { thread } = (await this.#ask("thread/start", { cwd: this.#workDir })) as {
      thread: { id: string };
    };
    return { id: thread.id, ms: performance.now() - startedAt };
  }

  async send(id: string, text: string): Promise<number> {
    const content = [{ type: "input_text", text }];
    const items = [{ type: "message", role: "user", content }];
    return await this.#time("thread/inject_items", { threadId: id, items });
  }

  /** What is injected is no item that can be read; a turn stores two. */
  async fill(id: string, count: number, text: (at: number) => string): Promise<void> {
    for (let at = 0; at < count; at += 2) await this.#run(id, text(at));
  }

  async page(id: string): Promise<number> {
    const params = { threadId: id, limit: 100, sortDirection: "desc" };
    return await this.#list("thread/items/list", params, 100);
  }

  async list(): Promise<number> {
    return await this.#list("thread/list", { limit: 20 }, 20);
  }

  async turn(): Promise<number> {
    return await timeTurn(
      () => this.create(),
      (id) => this.#run(id, "Go."),
    );
  }

  async turns(count: number): Promise<number> {
    return await timeTurns(count, () => this.turn());
  }

  residentMegabytes(): number {
    return this.#process.residentMegabytes();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }

  async #run(threadId: string, text: string): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#turns.set(threadId, resolve));
    await this.#ask("turn/start", { threadId, input: [{ type: "text", text, text_elements: [] }] });
    await ended;
  }

  async #time(method: string, params: object): Promise<number> {
    const startedAt = performance.now();
    await this.#ask(method, params);
    return performance.now() - startedAt;
  }

  async #list(method: string, params: object, expected: number): Promise<number> {
    const startedAt = performance.now();
    const { data } = (await this.#ask(method, params)) as { data: unknown[] };
    const ms = performance.now() - startedAt;
    if (data.length !== expected)
      throw new Error(`${method} answered ${data.length} in the place of ${expected}.`);
    return ms;
  }

  async #ask(method: string, params: object): Promise<unknown> {
    this.#asked += 1;
    const id = this.#asked;
    return await new Promise((resolve, reject) => {
      this.#answers.set(id, { resolve, reject });
      this.#child.stdin.write(`${JSON.stringify({ id, method, params })}\n`);
    });
  }

  #take({ id, method, params, result, error }: Message): void {
    if (method === "turn/completed") this.#turns.get(params?.threadId ?? "")?.();
    if (method !== undefined || id === undefined) return;
    const waiting = this.#answers.get(id);
    this.#answers.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(`codex refused: ${error.message}`));
  }
}

function configOf(modelUrl: string): string {
  return `model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "${modelUrl}/v1"
wire_api = "responses"
`;
}
