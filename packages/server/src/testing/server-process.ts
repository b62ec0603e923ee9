import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { pathToFileURL } from "node:url";
import { ConvokeClient } from "@convoke/client";
import type { FailingServerArguments } from "./failing-server.ts";
import { findSteadyPort } from "./steady-port.ts";
import { testedPrograms, type TestedPrograms } from "./tested-programs.ts";

export type ServerProcessOptions = Pick<FailingServerArguments, "dataDir"> &
  Partial<FailingServerArguments> & {
    /** The root of a clone whose sources are started instead of these. */
    readonly clone?: string | null;
  };

/** A server in a separate child process, to be killed, frozen or measured. Disposing it ends it, by force if necessary. */
export class ServerProcess implements AsyncDisposable {
  readonly url: string;
  readonly key: string;
  /** Resolves when the process is gone, with the signal that ended it, if any. */
  readonly ended: Promise<NodeJS.Signals | null>;
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  readonly #complaint: readonly string[];

  private constructor(
    child: ChildProcess,
    lines: Interface,
    url: string,
    key: string,
    complaint: readonly string[],
  ) {
    this.#complaint = complaint;
    this.#child = child;
    this.#lines = lines;
    this.url = url;
    this.key = key;
    this.ended = ending(child);
  }

  /** Resolves when it listens; rejects with its output when it ends before that. */
  static async start({ clone = null, ...options }: ServerProcessOptions): Promise<ServerProcess> {
    const given: FailingServerArguments = {
      port: options.port ?? (await findSteadyPort()),
      key: "crash-test-key",
      failPoints: "",
      traceFile: null,
      times: {},
      conversationIdleSeconds: null,
      standstillSeconds: null,
      databaseUrl: null,
      nodeAddress: null,
      appendsFile: null,
      ...options,
    };
    const { failingServer, shiftingClock } = clone === null ? testedPrograms() : sourcesIn(clone);
    const child = spawn(
      process.execPath,
      ["--expose-gc", `--import=${pathToFileURL(shiftingClock).href}`, failingServer, JSON.stringify(given)],
      {
        stdio: ["pipe", "pipe", "pipe"],
        // What was compiled for one start is used by the next.
        env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "convoke-compile-cache") },
      },
    );
    const complaint: string[] = [];
    child.stderr.setEncoding("utf8").on("data", (text: string) => complaint.push(text));
    const lines = createInterface({ input: child.stdout });
    const first = await Promise.race([once(lines, "line"), ending(child)]);
    if (!Array.isArray(first)) throw new Error(`The server did not start: ${complaint.join("")}`);
    const { url } = JSON.parse(String(first[0])) as { url: string };
    return new ServerProcess(child, lines, url, given.key, complaint);
  }

  /** What it wrote to standard error. */
  get complaint(): string {
    return this.#complaint.join("");
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  get client(): ConvokeClient {
    return new ConvokeClient({ baseUrl: this.url, apiKey: this.key });
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.ended;
  }

  /** The process's own report about its memory, right after a garbage collection. */
  async memory(): Promise<NodeJS.MemoryUsage> {
    return await this.#ask("");
  }

  /** Shifts its clock by so many milliseconds; 0 resets it. */
  async shiftClock(milliseconds: number): Promise<void> {
    await this.#ask(String(milliseconds));
  }

  async #ask(question: string): Promise<NodeJS.MemoryUsage> {
    this.#child.stdin?.write(`${question}\n`);
    const [line] = (await once(this.#lines, "line")) as [string];
    return JSON.parse(line) as NodeJS.MemoryUsage;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.hasEnded) return;
    this.signal("SIGTERM");
    const late = setTimeout(() => this.signal("SIGKILL"), 20_000);
    await this.ended;
    clearTimeout(late);
  }
}

async function ending(child: ChildProcess): Promise<NodeJS.Signals | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.signalCode;
}

function sourcesIn(clone: string): Pick<TestedPrograms, "failingServer" | "shiftingClock"> {
  const folder = join(clone, "packages/server/src/testing");
  return {
    failingServer: join(folder, "failing-server.ts"),
    shiftingClock: join(folder, "shifting-clock.ts"),
  };
}
