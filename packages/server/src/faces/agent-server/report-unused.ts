import type { Directory } from "../../directory/directory.ts";
import { OwnedElsewhere } from "../../engine/refusals.ts";
import type { MountDeps } from "../../http/mount.ts";
import type { Logger } from "../../lib/logger.ts";
import { normalizeUuid } from "../../lib/uuid7.ts";

/** Adds a warning to a conversation that names the unused fields of a request for it. */
export function reportUnusedIn(
  directory: Pick<Directory, "exists" | "open">,
  logger: Logger,
): NonNullable<MountDeps["reportUnused"]> {
  return async (caller, given, fields) => {
    const id = normalizeUuid(given);
    try {
      // A start has no conversation yet, and a deletion has none any more; the answer itself also names the fields.
      if (id === null || !(await directory.exists(caller, id))) return;
      await (await directory.open(caller, id)).writer.warnOfUnused(fields);
    } catch (error) {
      if (error instanceof OwnedElsewhere) throw error;
      // The request was carried out: a failure now would make the client repeat it.
      logger.warn(
        { conversation: id, error: String(error) },
        "a conversation with unused fields could not be opened",
      );
    }
  };
}
