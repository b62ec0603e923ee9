import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findSteadyPort } from "../../packages/server/src/testing/steady-port.ts";
import { makePeerFolder, PeerProcess } from "./peer-process.ts";

const startLimitMs = 180_000;

/** The reference server with a folder of its own, without keys. Disposing it ends it and removes the folder. */
export class PythonServer implements AsyncDisposable {
  readonly url: string;
  /** Absolute; tools may write here. */
  readonly workDir: string;
  /** From the start of the process to its first answer. */
  readonly startMs: number;
  readonly #process: PeerProcess;

  private constructor(server: Pick<PythonServer, "url" | "workDir" | "startMs">, process: PeerProcess) {
    this.url = server.url;
    this.workDir = server.workDir;
    this.startMs = server.startMs;
    this.#process = process;
  }

  /** `python` is the program of an environment that has the server. It is tried again: now and then its imports block each other. */
  static async start(python: string): Promise<PythonServer> {
    for (let triesLeft = 2; ; triesLeft -= 1) {
      try {
        return await PythonServer.#startOnce(python);
      } catch (error) {
        if (triesLeft === 0) throw error;
        console.log(String(error));
      }
    }
  }

  static async #startOnce(python: string): Promise<PythonServer> {
    const folder = makePeerFolder();
    const port = await findSteadyPort();
    const startedAtMs = performance.now();
    const child = spawn(python, ["-m", "openhands.agent_server", "--port", String(port)], {
      cwd: folder.workDir,
      stdio: "ignore",
      env: {
        ...process.env,
        HOME: folder.home,
        OH_CONVERSATIONS_PATH: join(folder.home, "conversations"),
        // What it writes for each request would be measured too.
        LOG_LEVEL: "ERROR",
        // It refuses more at once by itself.
        OH_MAX_CONCURRENT_RUNS: "50",
      },
    });
    const peer = new PeerProcess(child, folder);
    const url = `http://127.0.0.1:${port}`;
    try {
      await untilAnswers(url, child);
    } catch (error) {
      await peer[Symbol.asyncDispose]();
      throw error;
    }
    const startMs = performance.now() - startedAtMs;
    return new PythonServer({ url, workDir: folder.workDir, startMs }, peer);
  }

  residentMegabytes(): number {
    return this.#process.residentMegabytes();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }
}

async function untilAnswers(url: string, child: ChildProcess): Promise<void> {
  const limit = performance.now() + startLimitMs;
  while (performance.now() < limit) {
    if (child.exitCode !== null) throw new Error(`The reference ended with code ${child.exitCode}.`);
    const reply = await fetch(`${url}/health`).catch(() => null); // It does not listen yet.
    if (reply?.ok === true) return;
    await sleep(5);
  }
  throw new Error("The reference did not answer within three minutes.");
}
