import type { Directory } from "../directory/directory.ts";
import { OwnedElsewhere } from "../engine/refusals.ts";
import type { MountDeps } from "../http/mount.ts";
import type { Logger } from "../lib/logger.ts";
import { normalizeUuid } from "../lib/uuid7.ts";

/** Tells in a conversation which fields of a request for it change nothing. */
export function reportUnusedIn(
  directory: Pick<Directory, "exists" | "open">,
  logger: Logger,
): NonNullable<MountDeps["tellUnused"]> {
  return async (caller, given, fields) => {
    const id = normalizeUuid(given);
    try {
      // A start has no conversation yet, and a deletion none any more; the answer itself names the fields as well.
      if (id === null || !(await directory.exists(caller, id))) return;
      await (await directory.open(caller, id)).tellUnused(fields);
    } catch (error) {
      if (error instanceof OwnedElsewhere) throw error;
      // What was asked for is done: a failure now would have it done again.
      logger.warn(
        { conversation: id, error: String(error) },
        "a conversation with unused fields could not be opened",
      );
    }
  };
}
