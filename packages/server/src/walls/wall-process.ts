import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { open, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Socket } from "node:net";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { openHostStream, ToolHostRefusedError, ToolHostUnreachableError } from "@convoke/tool-host";
import { describeError } from "../lib/describe-error.ts";
import { bubblewrapCommand, type BubblewrapOrder } from "../sandboxes/bubblewrap-command.ts";
import type { ControlGroup } from "../sandboxes/control-groups/control-groups.ts";
import { NoPlaceError } from "./wall-places.ts";
import { readTail } from "../sandboxes/sandbox-directory.ts";

export type WallFiles = {
  /** Folder of the wall outside, which shows nothing inside. */
  readonly root: string;
  /** The folder in it that shows inside. */
  readonly run: string;
};

export type WallProcessDeps = {
  readonly files: WallFiles;
  /** Makes the folders, writes the key of the tool host, and says what to start. Called for each start. */
  readonly prepare: () => Promise<BubblewrapOrder>;
  /** Called for each start, before anything can be asked of it: rejects when it shows what it must not. With the id of its first process. */
  readonly check: (processId: number) => Promise<void>;
  /** Called for each start: the group that it is in. */
  readonly openGroup: () => Promise<ControlGroup>;
  /** Called after each end, and when a start has failed. Must not reject. */
  readonly onEnd: () => Promise<void>;
  /** The environment of bubblewrap itself. */
  readonly path: string;
};

const startMs = 30_000;
const pollMs = 3;

/** The process of one wall: started on demand, again after it ended. It ends with this process, however that ends. */
export class WallProcess implements AsyncDisposable {
  readonly #deps: WallProcessDeps;
  #child: ChildProcess | null = null;
  #starting: Promise<void> | null = null;
  #ended: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  /** Set while it must not start by itself; resolved when it is wanted again. */
  #wanted: PromiseWithResolvers<void> | null = null;

  constructor(deps: WallProcessDeps) {
    this.#deps = deps;
  }

  get isRunning(): boolean {
    return this.#child !== null;
  }

  /**
   * A connection to the tool host inside, whose process is started when it does not run. Rejects with {@link ToolHostRefusedError} when it
   * cannot be started: another attempt at once would fail as well.
   */
  async connect(): Promise<Socket> {
    // A connection that was lost is restored by itself, and would start it.
    await this.#wanted?.promise;
    if (this.#child === null) await this.start();
    return await openHostStream(`unix:${this.#socket}`);
  }

  /** Starts it when it does not run. Rejects with {@link ToolHostRefusedError}; it does not start then until it is asked to again. */
  async start(): Promise<void> {
    if (this.#isClosed) throw new ToolHostUnreachableError("The wall is closed.");
    try {
      if (this.#child === null)
        await (this.#starting ??= this.#start().finally(() => (this.#starting = null)));
    } catch (error) {
      if ((error as Error).cause instanceof NoPlaceError) this.#wanted ??= Promise.withResolvers();
      throw error;
    }
    this.#wanted?.resolve();
    this.#wanted = null;
  }

  /** Ends everything inside until {@link start} is called. */
  async yield(): Promise<void> {
    this.#wanted ??= Promise.withResolvers();
    await this.stop();
  }

  /** Ends everything inside. It starts again at the next use. */
  async stop(): Promise<void> {
    await this.#starting?.catch(() => undefined);
    this.#child?.kill("SIGKILL");
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#wanted?.resolve();
    await this.stop();
    await rm(this.#deps.files.root, { recursive: true, force: true });
  }

  get #socket(): string {
    return join(this.#deps.files.run, "host.sock");
  }

  async #start(): Promise<void> {
    const { files, prepare, openGroup, onEnd, path } = this.#deps;
    await using scope = new AsyncDisposableStack();
    try {
      const order = await prepare();
      const status = scope.use(await open(join(files.root, "status.json"), "w", 0o600));
      const log = scope.use(await open(join(files.root, "log"), "w", 0o600));
      const { descriptors, ...command } = bubblewrapCommand(order, status.fd);
      const group = await openGroup();
      const { file, args } = group.wrap(command);
      const child = spawn(file, args, {
        cwd: "/",
        env: { ...group.environment, PATH: path },
        // In a group of its own, so that a Ctrl-C at the server's terminal reaches only the server.
        detached: true,
        stdio: [
          "ignore",
          log.fd,
          log.fd,
          ...descriptors.map((one) => (typeof one === "number" ? one : ("pipe" as const))),
        ],
      });
      await once(child, "spawn");
      for (const [index, content] of descriptors.entries())
        if (typeof content !== "number") give(child.stdio[index + 3] as Writable, content);
      this.#child = child;
      this.#ended = once(child, "exit").then(async () => {
        if (this.#child === child) this.#child = null;
        await onEnd();
      });
      await this.#untilListening(child);
      await this.#check(child);
    } catch (error) {
      if (this.#child === null) await onEnd();
      throw error instanceof ToolHostRefusedError
        ? error
        : new ToolHostRefusedError(
            error instanceof NoPlaceError
              ? error.message
              : `The wall could not be started: ${describeError(error)}`,
            { cause: error },
          );
    }
  }

  async #check(child: ChildProcess): Promise<void> {
    try {
      const status = await readFile(join(this.#deps.files.root, "status.json"), "utf8");
      const [, processId] = /"child-pid":\s*(\d+)/.exec(status) ?? [];
      if (processId === undefined) throw new Error("bubblewrap did not name its first process.");
      await this.#deps.check(Number(processId));
    } catch (error) {
      child.kill("SIGKILL");
      await this.#ended;
      throw error;
    }
  }

  async #untilListening(child: ChildProcess): Promise<void> {
    const endMs = performance.now() + startMs;
    while (!(await isSocket(this.#socket))) {
      if (child.exitCode !== null || child.signalCode !== null || this.#child !== child) {
        const printed = (await readTail(join(this.#deps.files.root, "log"), 2_000)).trim();
        throw new ToolHostRefusedError(
          `The wall ended while it started. ${printed || "It printed nothing."}`,
        );
      }
      if (performance.now() > endMs) {
        child.kill("SIGKILL");
        throw new ToolHostRefusedError(`The wall did not start in ${startMs / 1_000} seconds.`);
      }
      await sleep(pollMs);
    }
    await rm(join(this.#deps.files.run, "key"), { force: true });
  }
}

export function createWallKey(): string {
  return randomBytes(32).toString("base64url");
}

function give(pipe: Writable, content: string | Buffer): void {
  // A program that ends before it has read everything says so itself, in its log.
  pipe.on("error", () => {});
  pipe.end(content);
}

async function isSocket(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isSocket(),
    // Not yet.
    () => false,
  );
}
