import type { ReplayCheck, overviewRoutes } from "@convoke/protocol";
import { readReplayLog } from "../../../agent/replay/read-log.ts";
import { replayWithPauses, type ReplayReport } from "../../../agent/replay/replay-log.ts";
import { findAsked } from "../../../http/asked-conversation.ts";
import { Mailbox } from "../../../lib/mailbox.ts";
import type { Handlers } from "../../../http/mount.ts";
import type { FaceDeps } from "../../face-deps.ts";

/**
 * Checks whole logs, one at a time, because each holds a log in memory. A client disconnect ends its check, or cancels
 * it before it begins.
 */
export function replayHandlers({ journal, directory }: FaceDeps) {
  const checks = new Mailbox();
  return {
    checkReplay: async (request) => {
      const { signal } = request;
      const id = await findAsked(directory, request);
      const report = await checks.post(async () => {
        const log = await readReplayLog(journal, id, signal);
        return await replayWithPauses(log, signal);
      });
      return { json: toWire(report) };
    },
  } satisfies Partial<Handlers<typeof overviewRoutes>>;
}

function toWire({ verified, unrecorded, difference }: ReplayReport): ReplayCheck {
  if (difference === null) return { verified, unrecorded, difference };
  const { eventId, seq, ...rest } = difference;
  return { verified, unrecorded, difference: { event_id: eventId, position: seq, ...rest } };
}
