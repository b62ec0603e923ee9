import type { ReplayCheck } from "@convoke/protocol";
import { readReplayLog } from "../../../agent/replay/read-log.ts";
import { replayWithPauses, type ReplayReport } from "../../../agent/replay/replay-log.ts";
import type { Directory } from "../../../directory/directory.ts";
import { conversationMissing } from "../../../engine/refusals.ts";
import type { RouteHandler } from "../../../http/mount.ts";
import type { Journal } from "../../../journal/journal.ts";
import { Mailbox } from "../../../lib/mailbox.ts";
import { conversationIdOf } from "../../../http/conversation-id.ts";

export type ReplayRouteDeps = {
  readonly journal: Pick<Journal, "readKinds" | "lastSeq">;
  readonly directory: Pick<Directory, "exists">;
};

/**
 * Checks whole logs, one at a time, because each holds a log in memory. A client disconnect ends its check, or cancels
 * it before it begins.
 */
export function replayHandlers({ journal, directory }: ReplayRouteDeps) {
  const checks = new Mailbox();
  return {
    checkReplay: async (request) => {
      const { caller, signal } = request;
      const id = conversationIdOf(request);
      if (!(await directory.exists(caller, id))) throw conversationMissing(id);
      const report = await checks.post(async () => {
        const log = await readReplayLog(journal, id, signal);
        return await replayWithPauses(log, signal);
      });
      return { json: toWire(report) };
    },
  } satisfies Record<string, RouteHandler>;
}

function toWire({ verified, unrecorded, difference }: ReplayReport): ReplayCheck {
  if (difference === null) return { verified, unrecorded, difference };
  const { eventId, seq, ...rest } = difference;
  return { verified, unrecorded, difference: { event_id: eventId, position: seq, ...rest } };
}
