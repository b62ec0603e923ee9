import { realpath } from "node:fs/promises";
import type { ToolSession } from "@convoke/tool-host";
import { describeError } from "../../lib/describe-error.ts";
import type { Logger } from "../../lib/logger.ts";
import { SharedRound } from "../../lib/shared-round.ts";
import { withMethods } from "../../lib/with-methods.ts";
import { giveToOwner, type Account } from "../../workspaces/owned-files.ts";

export type OwnedFolder = {
  /** Absolute. */
  readonly directory: string;
  readonly owner: Account;
};

/**
 * A server that is root works in somebody else's folder: what its tools make there becomes its owner's after each call that may have made
 * something, and at the end of the session (P50). The session itself for every other server and folder.
 */
export async function withOwnedFiles(
  session: ToolSession,
  { directory, owner: { uid, gid } }: OwnedFolder,
  logger: Logger,
): Promise<ToolSession> {
  if (process.getuid?.() !== 0 || uid === 0) return session;
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
    session.tools.find(({ name }) => name === tool)?.isReadOnly === true;
  return withMethods(session, {
    execute: async (request, options) => {
      const outcome = await session.execute(request, options);
      if (!isReadOnly(request.tool)) await round.ask();
      return outcome;
    },
    [Symbol.asyncDispose]: async () => {
      await session[Symbol.asyncDispose]();
      await round.ask();
    },
  });
}
