import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { ConvokeProcess } from "../../../packages/server/src/testing/convoke-process.ts";

export type ScenarioResult = {
  readonly scenario: string;
  readonly seconds: number;
  readonly error: string | null;
};

/** The observed behaviour of the SDK, from `scenarios.py`; methods are `Class.method`. */
export type SdkReport = {
  readonly version: string;
  readonly surface: Readonly<Record<string, readonly string[]>>;
  readonly requests: Readonly<Record<string, readonly string[]>>;
  readonly worked: readonly string[];
  readonly failed: Readonly<Record<string, string>>;
};

const maxMs = 600_000;

/** `convoke serve`, `convoke scripted-model` and a repository as workspace; disposing it ends both by their ids. */
export class PythonWorld implements AsyncDisposable {
  readonly #python: string;
  readonly #server: ConvokeProcess;
  readonly #model: ChildProcess;
  readonly #modelUrl: string;

  private constructor(python: string, server: ConvokeProcess, model: ChildProcess, modelUrl: string) {
    this.#python = python;
    this.#server = server;
    this.#model = model;
    this.#modelUrl = modelUrl;
  }

  static async open(python: string): Promise<PythonWorld> {
    const server = await ConvokeProcess.start();
    const folder = join(server.folder, "work");
    mkdirSync(folder, { recursive: true });
    makeRepository(folder);
    const script = join(server.folder, "script.json");
    const turns = JSON.parse(readFileSync(join(import.meta.dirname, "script.json"), "utf8")) as object;
    writeFileSync(script, JSON.stringify({ ...turns, vars: { workspace: folder } }));
    const words = ["scripted-model", "--json", "--script", script];
    const model = spawn(process.execPath, [resolve("packages/cli/src/bin.ts"), ...words], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const first = await Promise.race([
      once(createInterface({ input: model.stdout }), "line"),
      once(model, "exit"),
    ]);
    if (typeof first[0] !== "string") {
      await server[Symbol.asyncDispose]();
      throw new Error("The scripted model did not start.");
    }
    const { url } = JSON.parse(first[0]) as { url: string };
    return new PythonWorld(python, server, model, url);
  }

  /** Runs the scenarios whose name contains one of the words, or all. The report is null when Python failed. */
  async run(
    only: readonly string[],
  ): Promise<{ readonly scenarios: readonly ScenarioResult[]; readonly report: SdkReport | null }> {
    const child = spawn(this.#python, [join(import.meta.dirname, "scenarios.py"), ...only], {
      cwd: this.#server.folder,
      env: {
        PATH: `${dirname(this.#python)}:/usr/local/bin:/usr/bin:/bin`,
        HOME: this.#server.folder,
        // No cache files beside the sources.
        PYTHONDONTWRITEBYTECODE: "1",
        CONVOKE_URL: this.#server.url,
        CONVOKE_KEY: this.#server.key,
        MODEL_URL: this.#modelUrl,
        WORKSPACE: join(this.#server.folder, "work"),
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    // The SDK's own log is long; it is shown when Python itself breaks down.
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
    const late = setTimeout(() => child.kill("SIGKILL"), maxMs);
    const exit = once(child, "exit");
    const scenarios: ScenarioResult[] = [];
    let report: SdkReport | null = null;
    for await (const line of createInterface({ input: child.stdout })) {
      const value = parseLine(line);
      if (value === null) continue;
      if ("scenario" in value) scenarios.push(value);
      else report = value;
    }
    await exit;
    clearTimeout(late);
    if (report === null) console.error(log.slice(-10_000));
    return { scenarios, report };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#model.exitCode === null && this.#model.signalCode === null) {
      this.#model.kill("SIGTERM");
      await once(this.#model, "exit");
    }
    await this.#server[Symbol.asyncDispose]();
  }
}

/** Null for what the SDK prints itself. */
function parseLine(line: string): ScenarioResult | SdkReport | null {
  if (!line.startsWith('{"scenario"') && !line.startsWith('{"version"')) return null;
  return JSON.parse(line) as ScenarioResult | SdkReport;
}

function makeRepository(folder: string): void {
  const git = (...words: string[]): void => {
    const author = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
    execFileSync("git", [...author, ...words], { cwd: folder, stdio: "ignore" });
  };
  git("init", "--initial-branch=main");
  writeFileSync(join(folder, "README.md"), "first\n");
  git("add", "README.md");
  git("commit", "--message=first");
  writeFileSync(join(folder, "README.md"), "second\n");
}
