import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { buildCommand } from "../../scripts/build-command.ts";
import { buildWeb } from "../../scripts/build-web.ts";
import { processTree, threadTimes } from "./process-times.ts";
import { residentMegabytes } from "./resident-memory.ts";

const root = resolve(import.meta.dirname, "../..");

export type BuiltServerOptions = {
  /** With the page, freshly built. */
  readonly hasPage?: boolean;
  /** Fills the data folder before the server opens it. */
  readonly fill?: (dataDir: string) => Promise<void>;
  /** Number of processes that share the port, without sandboxes. */
  readonly processes?: number;
  /** Its `--wall`; the command's own unless given. */
  readonly wall?: "auto" | "off";
};

/** The installed `convoke serve` without keys, with its own data folder. Disposing it removes both. */
export class BuiltServer implements AsyncDisposable {
  readonly url: string;
  /** Absolute path where tools may write. */
  readonly workDir: string;
  /** Start time of the process, by `performance.now()`. */
  readonly startedAtMs: number;
  readonly #child: ChildProcess;
  readonly #folders: readonly string[];

  private constructor(
    { url, workDir, startedAtMs }: Pick<BuiltServer, "url" | "workDir" | "startedAtMs">,
    child: ChildProcess,
    folders: readonly string[],
  ) {
    this.url = url;
    this.workDir = workDir;
    this.startedAtMs = startedAtMs;
    this.#child = child;
    this.#folders = folders;
  }

  static async start({
    hasPage = false,
    fill,
    processes = 1,
    wall,
  }: BuiltServerOptions = {}): Promise<BuiltServer> {
    // Inside the checkout, so that the built command finds the packages outside the bundle.
    const cache = resolve(root, "node_modules", ".cache");
    mkdirSync(cache, { recursive: true });
    const folders = [
      mkdtempSync(join(cache, "convoke-bench-")),
      mkdtempSync(join(tmpdir(), "convoke-bench-")),
    ] as const;
    const [built, folder] = folders;
    await buildCommand(root, built);
    if (hasPage) cpSync(await buildWeb(root), join(built, "web"), { recursive: true });
    const [workDir, dataDir] = [join(folder, "work"), join(folder, "data")];
    mkdirSync(workDir);
    await fill?.(dataDir);
    const words = ["serve", "--no-auth", "--json", "--port", "0", "--data-dir", dataDir];
    if (processes !== undefined) words.push("--processes", String(processes), "--sandbox", "off");
    if (wall !== undefined) words.push("--wall", wall);
    const startedAtMs = performance.now();
    const child = spawn(process.execPath, [join(built, "lib", "bin.js"), ...words], {
      cwd: workDir,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [line] = (await Promise.race([
      once(createInterface({ input: child.stdout }), "line"),
      once(child, "exit").then(() => ["{}"]),
    ])) as [string];
    const { url } = JSON.parse(line) as { url?: string };
    if (url === undefined) throw new Error("The built server did not start.");
    return new BuiltServer({ url, workDir, startedAtMs }, child, folders);
  }

  /** Processor time of all its threads and processes since its start. */
  processorMs(): number {
    return [...this.threadMs().values()].reduce((sum, ms) => sum + ms, 0);
  }

  /** The same by thread. Time of ended threads is missing. */
  threadMs(): ReadonlyMap<string, number> {
    return new Map(processTree(this.#child.pid!).flatMap((pid) => [...threadTimes(pid)]));
  }

  residentMegabytes(): number {
    return residentMegabytes(this.#child.pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await ended;
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true });
  }
}
