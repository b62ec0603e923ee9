import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { openHostStream, ToolHostRefusedError, ToolHostUnreachableError } from "@convoke/tool-host";
import { describeError } from "../lib/describe-error.ts";
import type { LaunchedWall } from "./launched-wall.ts";
import { NoPlaceError } from "./wall-places.ts";
import { isSocket } from "../lib/file-kinds.ts";

export type WallProcessDeps = {
  /** The folder that shows inside, with the socket of the tool host. */
  readonly run: string;
  /** Makes the folders, writes the key of the tool host, and starts it. Called for each start. */
  readonly launch: () => Promise<LaunchedWall>;
  /** Called for each start, before anything can be asked of it: rejects when it shows what it must not. */
  readonly check: (launched: LaunchedWall) => Promise<void>;
  /** Called after each end, and when a start has failed. Must not reject. */
  readonly onEnd: () => Promise<void>;
};

const startMs = 60_000;
const pollMs = 3;

/** The inside of one wall: started on demand, again after it ended. It ends with this process, however that ends. */
export class WallProcess implements AsyncDisposable {
  readonly #deps: WallProcessDeps;
  #launched: LaunchedWall | null = null;
  #starting: Promise<void> | null = null;
  #ended: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  /** Set while it must not start by itself; resolved when it is wanted again. */
  #wanted: PromiseWithResolvers<void> | null = null;

  constructor(deps: WallProcessDeps) {
    this.#deps = deps;
  }

  get isRunning(): boolean {
    return this.#launched !== null;
  }

  /**
   * A connection to the tool host inside, whose process is started when it does not run. Rejects with {@link ToolHostRefusedError} when it
   * cannot be started: another attempt at once would fail as well.
   */
  async connect(): Promise<Socket> {
    // A connection that was lost is restored by itself, and would start it.
    await this.#wanted?.promise;
    if (this.#launched === null) await this.start();
    return await openHostStream(`unix:${this.#socket}`);
  }

  /** Starts it when it does not run. Rejects with {@link ToolHostRefusedError}; it does not start then until it is asked to again. */
  async start(): Promise<void> {
    if (this.#isClosed) throw new ToolHostUnreachableError("The wall is closed.");
    try {
      if (this.#launched === null)
        await (this.#starting ??= this.#start().finally(() => (this.#starting = null)));
    } catch (error) {
      this.#wanted ??= Promise.withResolvers();
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
    // One that is starting is not waited for.
    this.#launched?.kill();
    await this.#starting?.catch(() => undefined);
    this.#launched?.kill();
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#wanted?.resolve();
    await this.stop();
  }

  get #socket(): string {
    return join(this.#deps.run, "host.sock");
  }

  async #start(): Promise<void> {
    const { launch, onEnd } = this.#deps;
    try {
      const launched = await launch();
      this.#launched = launched;
      this.#ended = launched.ended.then(async () => {
        if (this.#launched === launched) this.#launched = null;
        await onEnd();
      });
      await this.#untilListening(launched);
      await this.#check(launched);
    } catch (error) {
      if (this.#launched === null) await onEnd();
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

  async #check(launched: LaunchedWall): Promise<void> {
    try {
      await this.#deps.check(launched);
    } catch (error) {
      launched.kill();
      await this.#ended;
      throw error;
    }
  }

  async #untilListening(launched: LaunchedWall): Promise<void> {
    const endMs = performance.now() + startMs;
    while (!(await isSocket(this.#socket))) {
      if (this.#launched !== launched) {
        const printed = (await launched.readLog(2_000)).trim();
        throw new ToolHostRefusedError(
          `The wall ended while it started. ${printed || "It printed nothing."}`,
        );
      }
      if (performance.now() > endMs) {
        launched.kill();
        throw new ToolHostRefusedError(`The wall did not start in ${startMs / 1_000} seconds.`);
      }
      await sleep(pollMs);
    }
    await rm(join(this.#deps.run, "key"), { force: true });
  }
}

export function createWallKey(): string {
  return randomBytes(32).toString("base64url");
}
