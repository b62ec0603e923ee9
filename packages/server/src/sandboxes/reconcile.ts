import { describeError } from "../lib/describe-error.ts";
import type { Logger } from "../lib/logger.ts";
import type { SandboxBackend } from "./sandbox.ts";
import type { SandboxStore } from "./sandbox-store.ts";

export type ReconcileDeps = {
  /** Those that keep something in containers before those that keep it in directories. */
  readonly backends: readonly SandboxBackend[];
  /** Asked after the resources were listed: a sandbox has a row before it has anything else. */
  readonly store: Pick<SandboxStore, "list">;
  readonly logger: Logger;
};

/** Removes everything that is marked as ours and belongs to no sandbox; returns the ids. What fails is tried again next time. */
export async function reconcile({ backends, store, logger }: ReconcileDeps): Promise<string[]> {
  const listed = await Promise.all(
    backends.map(async (backend) => {
      try {
        return await backend.listOwned();
      } catch (error) {
        logger.warn({ backend: backend.name, reason: describeError(error) }, "leftovers could not be listed");
        return [];
      }
    }),
  );
  const known = new Set((await store.list()).map(({ id }) => id));
  const strays = [...new Set(listed.flat())].filter((id) => !known.has(id));
  const removed: string[] = [];
  for (const id of strays) {
    try {
      for (const backend of backends) await backend.remove(id);
      removed.push(id);
    } catch (error) {
      logger.warn({ sandbox: id, reason: describeError(error) }, "a leftover sandbox could not be removed");
    }
  }
  return removed;
}
