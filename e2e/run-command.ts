import { type ChildProcess, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { wallSettings } from "@convoke/server/testing/wall-settings";

/** The package as published; `npm run test:e2e` builds it first. */
const builtPackage = path.resolve(import.meta.dirname, "../dist/convoke");

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** A folder, a home beside it, and the commands started in the folder; all are removed on disposal. */
export class CommandFolder implements AsyncDisposable {
  /** Where commands start. It is not the home, in which no agent may work. */
  readonly folder: string;
  readonly home: string;
  readonly #root: string;
  /** Additional environment of all commands. */
  readonly environment: Record<string, string> = {};
  readonly #children: ChildProcess[] = [];
  #package = builtPackage;

  private constructor(root: string) {
    this.#root = root;
    this.folder = path.join(root, "work");
    this.home = path.join(root, "home");
  }

  static async open(): Promise<CommandFolder> {
    const opened = new CommandFolder(await mkdtemp(path.join(tmpdir(), "convoke-e2e-")));
    await mkdir(opened.folder);
    await mkdir(opened.home);
    return opened;
  }

  /** Switches to a copy of the package in this folder, which a test may change; returns its path. */
  async installCopy(): Promise<string> {
    const copy = path.join(this.folder, "installed");
    await cp(builtPackage, copy, { recursive: true });
    await symlink(path.resolve(builtPackage, "../../node_modules"), path.join(this.folder, "node_modules"));
    this.#package = copy;
    return copy;
  }

  /** Runs the command to its end; after four minutes it is killed and its code is null. */
  async run(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Ended> {
    const child = this.#spawn(args, environment);
    const timer = setTimeout(() => child.kill("SIGKILL"), 240_000);
    const ended = await collect(child);
    clearTimeout(timer);
    return ended;
  }

  /** Starts a command that prints one line of JSON when it is ready. */
  async start(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Started> {
    const child = this.#spawn(args, environment);
    const ended = collect(child);
    const line = await new Promise<string>((resolve, reject) => {
      let text = "";
      child.stdout!.on("data", (data: Buffer) => {
        text += data.toString("utf8");
        if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
      });
      void ended.then(({ code, stderr }) =>
        reject(new Error(`It ended with ${code} before it was ready: ${stderr}`)),
      );
    });
    return { line, ready: JSON.parse(line) as Started["ready"], ended, child };
  }

  /** The output that a long-running command prints before its line of JSON, including errors, in order; then it is ended. */
  async printedUntilReady(
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<string> {
    const child = this.#spawn(args, environment, ["/bin/bash", "-c", 'exec "$0" "$@" 2>&1']);
    let text = "";
    child.stdout!.on("data", (data: Buffer) => {
      text += data.toString("utf8");
      if (readyLine.test(text)) child.kill("SIGTERM");
    });
    await collect(child);
    return text.slice(0, text.search(readyLine));
  }

  /** Starts a command without waiting for anything. */
  spawn(args: readonly string[]): Pick<Started, "child" | "ended"> {
    const child = this.#spawn(args, {});
    return { child, ended: collect(child) };
  }

  /** A model that plays these turns as long as the folder exists. */
  async startModel(turns: readonly object[]): Promise<string> {
    const file = path.join(this.folder, `script-${this.#children.length}.json`);
    await writeFile(file, JSON.stringify({ turns }));
    return (await this.start(["scripted-model", "--script", file, "--json"])).ready.url;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await gone;
    }
    await rm(this.#root, { recursive: true, force: true });
  }

  #spawn(
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
    through: readonly string[] = [],
  ): ChildProcess {
    const [file, ...rest] = [...through, process.execPath, path.join(this.#package, "lib/bin.js"), ...args];
    const child = spawn(file!, rest, {
      cwd: this.folder,
      env: {
        PATH: `${path.dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
        HOME: this.home,
        ...wallSettings(),
        ...this.environment,
        ...environment,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#children.push(child);
    return child;
  }
}

const readyLine = /^\{"url":/mu;

export type Started = {
  readonly line: string;
  readonly ready: { readonly url: string; readonly pid: number };
  readonly ended: Promise<Ended>;
  readonly child: ChildProcess;
};

async function collect(child: ChildProcess): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout!.on("data", (data: Buffer) => (stdout += data.toString("utf8")));
  child.stderr!.on("data", (data: Buffer) => (stderr += data.toString("utf8")));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, stdout, stderr };
}
