import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { buildCommand } from "../../scripts/build-command.ts";
import { buildWeb } from "../../scripts/build-web.ts";
import { residentMegabytes } from "./resident-memory.ts";

const root = resolve(import.meta.dirname, "../..");
/** Of the kernel's clock for processes, on every Linux that Node runs on. */
const ticksPerSecond = 100;

export type BuiltServerOptions = {
  /** With the page, built anew. */
  readonly hasPage?: boolean;
  /** Fills the data folder before the server opens it. */
  readonly fill?: (dataDir: string) => Promise<void>;
};

/** `convoke serve` as it is installed, without keys, with a data folder of its own. Disposing it removes both. */
export class BuiltServer implements AsyncDisposable {
  readonly url: string;
  /** Absolute; tools may write here. */
  readonly workDir: string;
  /** When the process was started, as `performance.now()` tells it. */
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

  static async start({ hasPage = false, fill }: BuiltServerOptions = {}): Promise<BuiltServer> {
    // Inside the checkout, so that the built command finds the packages that stay outside the bundle.
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

  /** Processor time of all its threads since its start. */
  processorMs(): number {
    const fields = readFileSync(`/proc/${this.#child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1000;
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
