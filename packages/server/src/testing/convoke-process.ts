import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { wallSettings } from "./wall-settings.ts";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { text as readText } from "node:stream/consumers";
import { toReply, type Reply } from "./start-server.ts";
import { testedPrograms } from "./tested-programs.ts";

export type ConvokeOptions = {
  /** Script of the command; that of this test run unless given. */
  readonly command?: string;
  /** The value of `CONVOKE_SANDBOX`; the best available backend unless given. */
  readonly sandbox?: string;
  /** An existing folder, which is not removed; a new one in the folder of the process unless given. */
  readonly dataDir?: string;
  readonly environment?: Readonly<Record<string, string>>;
};

/**
 * `convoke serve` in a separate process and folder, with sandboxes. Disposing it deletes every sandbox, ends the process and removes
 * the folder, whatever has happened to them.
 */
export class ConvokeProcess implements AsyncDisposable {
  readonly key = "convoke-test-key";
  readonly folder: string;
  readonly #options: ConvokeOptions;
  #child: ChildProcess | null = null;
  #url = "";
  #log = "";

  private constructor(folder: string, options: ConvokeOptions) {
    this.folder = folder;
    this.#options = options;
  }

  static async start(options: ConvokeOptions = {}): Promise<ConvokeProcess> {
    // Sandboxes run as another user, who needs access.
    const started = new ConvokeProcess(await mkdtemp(join(tmpdir(), "convoke-serve-")), options);
    await started.restart();
    return started;
  }

  get url(): string {
    return this.#url;
  }

  get dataDir(): string {
    return this.#options.dataDir ?? join(this.folder, "data");
  }

  /** Its error output so far. */
  get log(): string {
    return this.#log;
  }

  async restart(): Promise<void> {
    await this.end("SIGTERM");
    const { sandbox, command = testedPrograms().command } = this.#options;
    const child = spawn(
      process.execPath,
      [
        command,
        "serve",
        "--json",
        "--port=0",
        `--data-dir=${this.dataDir}`,
        "--log-level=debug",
        ...(sandbox === undefined ? [] : ["--sandbox", sandbox]),
      ],
      {
        cwd: this.folder,
        env: {
          PATH: `${dirname(process.execPath)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
          HOME: this.folder,
          NODE_COMPILE_CACHE: join(tmpdir(), "convoke-compile-cache"),
          SESSION_API_KEY: this.key,
          ...wallSettings(),
          ...this.#options.environment,
        },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    this.#child = child;
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.#log += text));
    const first = await Promise.race([
      once(createInterface({ input: child.stdout }), "line"),
      once(child, "exit"),
    ]);
    if (typeof first[0] !== "string" || child.exitCode !== null)
      throw new Error(`It did not start: ${this.#log}`);
    this.#url = (JSON.parse(first[0]) as { url: string }).url;
  }

  /** No effect when it has ended. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const late = setTimeout(() => child.kill("SIGKILL"), 90_000);
    child.kill(signal);
    await once(child, "exit");
    clearTimeout(late);
  }

  /** A request with the key, unless another or none (null) is given; a body is sent as JSON. */
  async call(method: string, path: string, body?: unknown, key: string | null = this.key): Promise<Reply> {
    const reply = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { "X-Session-API-Key": key }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return toReply(reply.status, reply.headers, await reply.text());
  }

  /** The same over a new connection, which reaches the next process if several share the port. */
  async ask(method: string, path: string, body?: unknown): Promise<Reply> {
    const sent = body === undefined ? null : JSON.stringify(body);
    const asked = request(`${this.#url}${path}`, {
      method,
      agent: false,
      headers: {
        "X-Session-API-Key": this.key,
        ...(sent === null ? {} : { "Content-Type": "application/json" }),
      },
    });
    asked.end(sent ?? undefined);
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    const headers = new Headers({ "content-type": answer.headers["content-type"] ?? "" });
    return toReply(answer.statusCode ?? 0, headers, await readText(answer));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child === null) await this.restart();
    const { json } = await this.call("GET", "/api/v1/sandboxes/search");
    const { items = [] } = json as { items?: readonly { id: string }[] };
    for (const { id } of items) await this.call("DELETE", `/api/v1/sandboxes/${id}`);
    await this.end("SIGTERM");
    await rm(this.folder, { recursive: true, force: true });
  }
}
