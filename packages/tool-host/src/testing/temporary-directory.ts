import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A fresh directory that is removed with everything in it on disposal. */
export async function openTemporaryDirectory(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "convoke-test-"));
  return {
    path,
    [Symbol.asyncDispose]: async () => rm(path, { recursive: true, force: true }),
  };
}
