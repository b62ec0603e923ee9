import { realpath } from "node:fs/promises";
import { describeError } from "../../lib/describe-error.ts";
import type { Logger } from "../../lib/logger.ts";
import { SharedRound } from "../../lib/shared-round.ts";
import { giveToOwner, type Account } from "../../workspaces/owned-files.ts";
import { forward, type ToolSource } from "../tool-source.ts";

export type OwnedFolder = {
  /** Absolute. */
  readonly directory: string;
  readonly owner: Account;
};

/**
 * A server that is root works in somebody else's folder: what its tools make there becomes its owner's after each call that may have made
 * something, and when the source is closed (P50). The source itself for every other server and folder.
 */
export async function giveFilesToOwner(
  source: ToolSource,
  { directory, owner: { uid, gid } }: OwnedFolder,
  logger: Logger,
): Promise<ToolSource> {
  if (process.getuid?.() !== 0 || uid === 0) return source;
  const folder = await realpath(directory);
  const sweep = { folder, owner: { uid, gid }, from: 0, sinceMs: Date.now() };
  const round = new SharedRound(async () => {
    try {
      await giveToOwner(sweep);
    } catch (error) {
      logger.warn(
        { folder, error: describeError(error) },
        "files of root stayed in a folder of somebody else",
      );
    }
  });
  const isReadOnly = (tool: string): boolean =>
    source.tools().find(({ name }) => name === tool)?.isReadOnly === true;
  return {
    ...forward(source),
    execute: async (request, options) => {
      const outcome = await source.execute(request, options);
      if (!isReadOnly(request.tool)) await round.ask();
      return outcome;
    },
    [Symbol.asyncDispose]: async () => {
      await source[Symbol.asyncDispose]();
      await round.ask();
    },
  };
}
