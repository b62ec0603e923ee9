import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { residentMegabytes } from "../node/resident-memory.ts";

/** A folder of a peer's own, which is its home, with one to work in. */
export type PeerFolder = { readonly home: string; readonly workDir: string };

export function makePeerFolder(): PeerFolder {
  const home = mkdtempSync(join(tmpdir(), "convoke-peer-"));
  const workDir = join(home, "work");
  mkdirSync(workDir);
  return { home, workDir };
}

/** The process of a peer. Disposing it ends it and removes its folder. */
export class PeerProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #folder: PeerFolder;

  constructor(child: ChildProcess, folder: PeerFolder) {
    this.#child = child;
    this.#folder = folder;
  }

  residentMegabytes(): number {
    return residentMegabytes(this.#child.pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, "exit");
    // Nothing that it still writes is read again.
    if (this.#child.exitCode === null && this.#child.kill("SIGKILL")) await ended;
    rmSync(this.#folder.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** So many turns at once: milliseconds to the end of the last. */
export async function timeTurns(count: number, turn: () => Promise<number>): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: count }, turn));
  return performance.now() - startedAt;
}

/** A conversation that is created, and its run: milliseconds of both. */
export async function timeTurn(
  create: () => Promise<{ readonly id: string }>,
  run: (id: string) => Promise<unknown>,
): Promise<number> {
  const startedAt = performance.now();
  const { id } = await create();
  await run(id);
  return performance.now() - startedAt;
}
