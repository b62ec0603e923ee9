import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { request, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { createInterface } from "node:readline";
import { testedPrograms } from "@convoke/server/testing";
import { wallSettings } from "@convoke/server/testing/wall-settings";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";

export type TogetherOptions = {
  readonly processes: number;
  readonly sandbox?: string;
  readonly environment?: Readonly<Record<string, string>>;
};

type Reply = {
  readonly status: number;
  readonly text: string;
  readonly json: unknown;
  readonly headers: IncomingHttpHeaders;
};

/** `convoke serve` with several processes, in a folder of its own that goes with it. */
export class TogetherCommand implements AsyncDisposable {
  readonly key = "together-test-key";
  readonly folder: string;
  readonly #options: TogetherOptions;
  readonly #owned: AsyncDisposable;
  #child: ChildProcess | null = null;
  #url = "";
  #log = "";

  private constructor(folder: string, options: TogetherOptions, owned: AsyncDisposable) {
    this.folder = folder;
    this.#options = options;
    this.#owned = owned;
  }

  static async start(options: TogetherOptions): Promise<TogetherCommand> {
    const folder = await openTemporaryDirectory();
    const command = new TogetherCommand(folder.path, options, folder);
    await mkdir(command.workDir);
    await command.restart();
    return command;
  }

  /** Of a start that does not succeed. */
  static async refusedStart(
    options: TogetherOptions,
  ): Promise<{ readonly code: number | null; readonly output: string }> {
    await using folder = await openTemporaryDirectory();
    const command = new TogetherCommand(folder.path, options, folder);
    await mkdir(command.workDir);
    const child = command.#spawn();
    const [code] = (await once(child, "close")) as [number | null];
    return { code, output: command.log };
  }

  get url(): string {
    return this.#url;
  }

  get workDir(): string {
    return join(this.folder, "work");
  }

  get log(): string {
    return this.#log;
  }

  async restart(): Promise<void> {
    const child = this.#spawn();
    const first = await Promise.race([
      once(createInterface({ input: child.stdout! }), "line"),
      once(child, "close"),
    ]);
    if (typeof first[0] !== "string") throw new Error(`It did not start: ${this.#log}`);
    const { url, pid } = JSON.parse(first[0]) as { url: string; pid: number };
    if (pid !== child.pid) throw new Error("It tells another process than the one that was started.");
    this.#url = url;
  }

  /** Ids of the processes that serve. */
  processes(): number[] {
    const pid = this.#child?.pid;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    return children.filter((child) => child !== "").map(Number);
  }

  /** Over a connection of its own, so that each call comes to the next process. */
  async ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = { "X-Session-API-Key": this.key },
  ): Promise<Reply> {
    const sent = body === undefined ? null : JSON.stringify(body);
    const asked = request(`${this.#url}${path}`, {
      method,
      agent: false,
      headers: {
        ...headers,
        ...(sent === null
          ? {}
          : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(sent) }),
      },
    });
    asked.end(sent ?? undefined);
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    const text = await readText(answer);
    const isJson = answer.headers["content-type"]?.startsWith("application/json") === true;
    const { statusCode: status = 0, headers: given } = answer;
    return { status, text, headers: given, json: isJson ? JSON.parse(text) : null };
  }

  /** Resolves with code and signal; does nothing when it has ended. */
  async end(signal: NodeJS.Signals): Promise<unknown[]> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return [];
    const late = setTimeout(() => child.kill("SIGKILL"), 60_000);
    const ended = once(child, "exit");
    child.kill(signal);
    const ending = await ended;
    clearTimeout(late);
    return ending;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end("SIGTERM");
    await this.#owned[Symbol.asyncDispose]();
  }

  #spawn(): ChildProcess {
    const { processes, sandbox = "off", environment } = this.#options;
    const words = ["serve", "--json", "--port=0", "--processes", String(processes), "--sandbox", sandbox];
    const child = spawn(
      process.execPath,
      [testedPrograms().command, ...words, "--data-dir", join(this.folder, "data")],
      {
        cwd: this.workDir,
        env: {
          PATH: process.env["PATH"] ?? "",
          HOME: this.folder,
          NODE_COMPILE_CACHE: join(tmpdir(), "convoke-compile-cache"),
          SESSION_API_KEY: this.key,
          ...wallSettings(),
          ...environment,
        },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.#log += text));
    this.#child = child;
    return child;
  }
}
